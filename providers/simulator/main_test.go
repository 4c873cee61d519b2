package simulator

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// command is a command that keeps its base. It fails if it has none to serve.
func command(into **Base, region *string) Command {
	return Command{
		About: "A region of Acme's cloud.", Port: 4580, Times: Times{Boot: 7 * time.Second},
		Flags: func(f *flag.FlagSet) { f.StringVar(region, "region", "here", "simulated region") },
		New:   func(b *Base) (Cloud, error) { *into = b; return Cloud{}, errors.New("no cloud") },
	}
}

func TestACommandLine(t *testing.T) {
	g := NewWithT(t)
	var b *Base
	var region string
	var out bytes.Buffer
	g.Expect(run(t.Context(), command(&b, &region), []string{"--alone", "--region", "there", "--ending=0s"}, &out)).
		To(MatchError("no cloud"))
	g.Expect(region).To(Equal("there"))
	g.Expect(b.Times).To(Equal(Times{Pending: 2 * time.Second, Boot: 7 * time.Second, Notice: 3 * time.Second}))
	g.Expect(b.Nodes.Client()).To(BeNil())
	g.Expect(b.Nodes.Config()).To(BeNil())

	g.Expect(run(t.Context(), command(&b, &region), []string{"--help"}, &out)).To(MatchError(flag.ErrHelp))
	g.Expect(out.String()).To(And(HavePrefix("A region of Acme's cloud.\n"), ContainSubstring("-region"),
		ContainSubstring(`"127.0.0.1:4580"`), ContainSubstring("(default 7s)")))
}

func TestMistakesInACommandLineComeTogether(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("KUBECONFIG", "/nowhere")
	var b *Base
	var region string
	for _, row := range []struct {
		wrong OmegaMatcher
		args  []string
	}{
		{And(ContainSubstring("only loopback"), ContainSubstring("--boot=-1s: a time can't be negative"),
			ContainSubstring(`arguments ["more"]: there are only flags`)), []string{"--listen=0.0.0.0:1", "--boot=-1s", "more"}},
		{ContainSubstring("-colour"), []string{"--colour=red"}},
		{ContainSubstring("connecting to the cluster of the instances"), nil},
	} {
		g.Expect(run(t.Context(), command(&b, &region), row.args, &bytes.Buffer{})).To(MatchError(row.wrong))
	}
	g.Expect(b).To(BeNil())
}

func TestASeedMakesRandomChoicesRepeatable(t *testing.T) {
	g := NewWithT(t)
	number := func(seed uint64) uint64 { return NewBase(context.Background(), nil, Times{}, seed).Random.Uint64() }
	g.Expect(number(1)).To(Equal(number(1)))
	g.Expect(number(1)).NotTo(Equal(number(2)))
}
