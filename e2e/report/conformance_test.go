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
	known.Retried = "etcd died\nits log"
	terminal.Add(known)

	c := terminal.Conformance()
	c.Provider, c.Took, c.Plumbline, c.Adapter = "kwok", "5s", "v0.3.0", "adapter.yaml"
	c.Controller = Controller{Image: "example.com/kwok:1", Released: true}
	c.Selection = "FOCUS=drift"
	c.Started = time.Time{}
	file := filepath.Join(t.TempDir(), "conformance.yaml")
	g.Expect(c.Write(file)).To(Succeed())
	g.Expect(ReadConformance(file)).To(Equal(c))
	g.Expect(os.ReadFile(file)).To(MatchYAML(`
format: 1
plumbline: v0.3.0
provider: kwok
adapter: adapter.yaml
controller: {image: "example.com/kwok:1", released: true}
selection: FOCUS=drift
started: "0001-01-01T00:00:00Z"
took: 5s
clusters: [{backend: local, kubernetes: v1.36.3, karpenter: v1.15.0, speed: auto}]
complete: false
green: true
counts: {known: 1, passed: 1}
specs:
- {id: drift/one-to-one, name: drift replaces nodes, verdict: passed, tested: 5}
- {id: drift/one-to-one, name: drift is quick, verdict: known, tested: 0, reason: it isn't, issue: "https://example.com/1",
   retried: etcd died}
`))
}

func TestOlderReportsAreRead(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "conformance.yaml")
	g.Expect(os.WriteFile(file, []byte(`
clusters: [{backend: local, image: "sha256:1", karpenter: v1.15.0, kubernetes: v1.36.3, speed: auto}]
complete: true
counts: {passed: 1}
green: true
provider: kwok
specs: [{id: drift/one-to-one, name: drift replaces nodes, tested: 1, verdict: passed}]
started: "2026-11-24T08:27:05Z"
took: 12s
version: v1.15.0
`), 0o600)).To(Succeed())
	c, err := ReadConformance(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Format).To(BeZero())
	g.Expect(c.Specs).To(HaveLen(1))
	g.Expect(c.Controller.Released).To(BeFalse(), "it isn't said")
}
