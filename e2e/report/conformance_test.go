package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestConformanceSaysWhatWasProvenWhere(t *testing.T) {
	g := NewWithT(t)
	terminal := NewTerminal(&bytes.Buffer{}, 2, 1)
	on := Cluster{Backend: "local", Kubernetes: "v1.36.3", Karpenter: "v1.15.0", Speed: "auto"}
	terminal.On(on)
	terminal.On(on)
	passed := outcome(Passed, "replaces nodes")
	passed.Claims = []Judged{{Tested: 2}, {Tested: 3}}
	terminal.Add(passed)
	g.Expect(terminal.Conformance().Green).To(BeFalse(), "one is not reached")
	g.Expect(terminal.Conformance().NotReached).To(Equal(1))
	known := outcome(Known, "is quick")
	known.Reason, known.Issue = "it isn't\nat all", "https://example.com/1"
	terminal.Add(known)

	c := terminal.Conformance()
	c.Provider, c.Took = "kwok", "5s"
	c.Started = time.Time{}
	file := filepath.Join(t.TempDir(), "conformance.yaml")
	g.Expect(c.Write(file)).To(Succeed())
	g.Expect(ReadConformance(file)).To(Equal(c))
	g.Expect(os.ReadFile(file)).To(MatchYAML(`
provider: kwok
started: "0001-01-01T00:00:00Z"
took: 5s
clusters: [{backend: local, kubernetes: v1.36.3, karpenter: v1.15.0, speed: auto}]
complete: false
green: true
counts: {known: 1, passed: 1}
specs:
- {id: drift/one-to-one, name: drift replaces nodes, verdict: passed, tested: 5}
- {id: drift/one-to-one, name: drift is quick, verdict: known, tested: 0, reason: it isn't, issue: "https://example.com/1"}
`))
}
