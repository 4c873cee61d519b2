package providers

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestBase(t *testing.T) {
	g := NewWithT(t)
	kwok := Named("kwok")
	mine := loaded(t, `name: mine
base: kwok
controller:
  build: {module: .}
  env: {LIE: x}
  chart: {values: {replicas: 2, controller: {image: null}}}
  logs: {tolerate: [nothing]}
nodeClaim: null
capabilities: {spot: {support: unsupported, why: none}, nodeRepair: unsupported}
`)
	g.Expect(mine.Name).To(Equal("mine"))
	g.Expect(mine.Source).To(Equal(kwok.Source))
	g.Expect(mine.Controller.Build).To(Equal(&Build{Module: ".", Package: "./kwok"}), "mappings are merged")
	g.Expect(mine.Controller.Env).To(HaveKeyWithValue("LIE", "x"))
	g.Expect(mine.Controller.Chart.Path).To(Equal(kwok.Controller.Chart.Path))
	g.Expect(mine.Controller.Chart.Values).
		To(And(HaveKeyWithValue("replicas", int64(2)), HaveKey("webhook")), "at any depth")
	g.Expect(mine.Controller.Chart.Values["controller"]).To(And(HaveKeyWithValue("image", BeNil()), HaveKey("metrics")))
	g.Expect(mine.Controller.Logs.Tolerate).To(Equal([]string{"nothing"}), "lists are replaced")
	g.Expect(mine.NodeClaim).To(BeZero(), "null takes away")
	g.Expect(mine.NodePool).To(Equal(kwok.NodePool))
	g.Expect(mine.Capabilities).To(And(
		HaveKeyWithValue(Spot, Support{State: Unsupported, Why: "none"}),
		HaveKeyWithValue(NodeRepair, Support{State: Unsupported}),
		HaveKeyWithValue(NodePools, kwok.Capabilities[NodePools])))
	g.Expect(kwok.Controller.Env).NotTo(HaveKey("LIE"), "the base stays as it is")
}

func TestABaseThatThereIsNot(t *testing.T) {
	err := loaded(t, "name: mine\nbase: kwuk\ncolor: x\n"+good[len("name: acme\n"):]).Validate()
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring("adapter.yaml:2:1: base: there is no built-in adapter `kwuk`, did you mean `kwok`?"),
		ContainSubstring("unknown field `color`"))))
}

// A built-in adapter's files would be looked up beside the adapter that extends it.
func TestBuiltInAdaptersHaveNoFilesOfTheirOwn(t *testing.T) {
	for _, name := range Names() {
		a := Named(name)
		for _, p := range append(a.CRDs, a.Controller.Chart.Path) {
			NewWithT(t).Expect(fromSource(p)).To(BeTrue(), "%s: %s", name, p)
		}
		NewWithT(t).Expect(a.NodeClass.File + a.NodePool.File + a.NodeClaim.File).To(BeEmpty())
	}
}
