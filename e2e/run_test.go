package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// followed runs a command in place of the workers and returns what people see.
func followed(t *testing.T, run string, command ...string) (shown string, err error) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	NewWithT(t).Expect(os.WriteFile(filepath.Join(run, progressFile), nil, 0o600)).To(Succeed())
	var out bytes.Buffer
	err = follow(ctx, stop, exec.CommandContext(ctx, command[0], command[1:]...), run, report.NewTerminal(&out, 1, 1))
	return out.String(), err
}

func TestWorkersThatCannotWriteAreStopped(t *testing.T) {
	g := NewWithT(t)
	run := filepath.Join(t.TempDir(), "run")
	g.Expect(os.Mkdir(run, 0o700)).To(Succeed())
	began := time.Now()
	shown, err := followed(t, run, "sh", "-c", "rm -r "+run+" && exec sleep 60")
	g.Expect(time.Since(began)).To(BeNumerically("<", 5*time.Second))
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(shown).To(HavePrefix("\n✗ the folder for artifacts can't take any more (ARTIFACTS chooses another): "))
}

func TestMessagesThatCannotBeReadStopTheWorkers(t *testing.T) {
	g := NewWithT(t)
	run := t.TempDir()
	halfMessage := `echo '{"step":"half a mess{"step":"one"}' >> ` + filepath.Join(run, progressFile)
	shown, err := followed(t, run, "sh", "-c", halfMessage+" && exec sleep 60")
	g.Expect(err).To(MatchError(ContainSubstring("progress file: ")))
	g.Expect(shown).To(HavePrefix("\n✗ progress file: "))
	g.Expect(os.ReadDir(run)).To(HaveLen(2), "the messages and Ginkgo's log")
}

func TestABranchIsTheSameReleaseForAllWorkers(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	const pseudo = "v1.15.1-0.20260819221709-6e7eab7a0f48"
	script := "#!/bin/sh\necho '{\"Version\": \"" + pseudo + "\"}'\n"
	g.Expect(os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700)).To(Succeed())
	t.Setenv("PATH", dir)
	t.Setenv("PLUMBLINE_CACHE", t.TempDir())
	a := &providers.Adapter{Source: providers.Source{Module: "example.com/acme", Version: "v1.2.3"}}
	var said []string
	say := func(line string) { said = append(said, line) }
	release := func(asked string) string {
		resolved, err := resolveRelease(t.Context(), Config{Release: asked}, a, say)
		g.Expect(err).NotTo(HaveOccurred())
		return resolved
	}
	g.Expect(release("")).To(BeEmpty(), "the adapter's")
	g.Expect(release("1.2.4")).To(Equal("1.2.4"))
	g.Expect(said).To(BeEmpty())
	g.Expect(release("main")).To(Equal(pseudo))
	g.Expect(said).To(ConsistOf("main of example.com/acme is " + pseudo))
	a.Source.Version = "main"
	g.Expect(release("")).To(Equal(pseudo))
	a.Controller.Build = &providers.Build{Module: "."}
	g.Expect(release("")).To(BeEmpty(), "a folder is built as it is")
}
