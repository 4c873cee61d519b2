package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestSpecsWithFaults(t *testing.T) {
	g := NewWithT(t)
	suite := NewSuite("drift")
	suite.Add(Spec{Name: "replaces nodes", Row: "one", Within: time.Minute, Run: func(context.Context, *Env) {}})
	id := suite.Specs()[0].ID()
	file := filepath.Join(t.TempDir(), "points.json")
	write := func(text string) { g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed()) }

	write(`[{"spec":"` + id + `","pattern":"crash-after","request":"patch nodeclaims.karpenter.sh/status","nth":2},
		{"spec":"` + id + `","pattern":"lose-answer","request":"create nodes","nth":1,"try":3},
		{"spec":"` + id + `"}, {"spec":"` + id + `","try":2}]`)
	struck, err := WithFaults(file, suite, NewSuite("other"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(struck).To(HaveLen(1))
	specs := struck[0].Specs()
	g.Expect(specs[0].ID()).To(Equal(id + "/crash-after/patch-nodeclaims-karpenter-sh-status/2"))
	g.Expect(specs[0].Name).To(Equal(
		"replaces nodes; the controller is killed after request 2 to patch nodeclaims/status"))
	g.Expect(specs[0].Within).To(Equal(time.Minute + recovery))
	g.Expect(specs[1].ID()).To(Equal(id + "/lose-answer/create-nodes/1/3"))
	g.Expect(specs[1].Name).To(Equal("replaces nodes; the answer is lost of create nodes, time 3"))
	g.Expect(specs[2].ID()).To(Equal(id + "/no-fault"))
	g.Expect(specs[2].Name).To(Equal("replaces nodes; without a fault"))
	g.Expect(specs[3].ID()).To(Equal(id + "/no-fault/2"))
	g.Expect(suite.Specs()).To(HaveLen(1), "the suite itself stays as it is")
	adapter := &providers.Adapter{KnownFailures: []providers.KnownFailure{{Spec: "e2e/other"}}}
	g.Expect(unknownKnownFailures(adapter, []*Suite{suite})).NotTo(Succeed())
	g.Expect(unknownKnownFailures(adapter, struck)).To(Succeed(), "what isn't struck may be known")

	write(`[{"spec":"drift/none","pattern":"crash-after","request":"create nodes","nth":1},
		{"spec":"` + id + `","pattern":"melt","request":"create nodes","nth":1},
		{"spec":"` + id + `","pattern":"fail","request":"sing nodes","nth":1}]`)
	_, err = WithFaults(file, suite)
	g.Expect(err).To(MatchError(And(ContainSubstring("there is no spec drift/none"),
		ContainSubstring(`there is no pattern "melt", only ["crash-before"`), ContainSubstring(`there is no verb "sing"`))))
	write(`{}`)
	_, err = WithFaults(file, suite)
	g.Expect(err).To(MatchError(ContainSubstring(file)))
	_, err = WithFaults(file+".gone", suite)
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

func TestPatternsStrikeWhatTheyName(t *testing.T) {
	g := NewWithT(t)
	for _, pattern := range faults.Patterns() {
		on, err := faults.ParseKind("patch nodeclaims.karpenter.sh/status")
		g.Expect(err).NotTo(HaveOccurred())
		fault, err := pattern.At(on.Nth(3))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(fault.Check()).To(Succeed(), string(pattern))
		g.Expect(fault.String()).To(ContainSubstring("request 3 to patch nodeclaims/status"), string(pattern))
	}
}
