package e2e

import (
	"regexp"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestAForecastGroupsSkipsByTheirReason(t *testing.T) {
	const noHook = "the adapter of acme has no hook interrupt"
	suite := NewSuite("drift")
	for row, spec := range map[string]Spec{
		"runs": {}, "known": {}, "left-out": {},
		"hook":     {Hooks: []providers.HookName{providers.Interrupt}},
		"hook-too": {Hooks: []providers.HookName{providers.Interrupt}},
		"new":      {Since: Since{Karpenter: "1.15"}},
		"newer":    {Since: Since{Kubernetes: "1.37"}},
		"leaps":    {Within: 1000 * time.Hour},
		"gate":     {Gate: "NodeRepair"},
	} {
		spec.Row, spec.Name, spec.Run = row, "spec "+row, nothing
		suite.Add(spec)
	}
	a := &providers.Adapter{
		Name:         "acme",
		Capabilities: map[providers.Capability]providers.Support{providers.NodePools: {State: providers.Supported}},
	}
	for _, spec := range suite.Specs() {
		if spec.Row == "known" {
			a.KnownFailures = []providers.KnownFailure{{Spec: spec.ID(), Releases: ">=1.0.0"}}
		}
	}
	var f Forecast
	g := NewWithT(t)
	c := Config{Skip: regexp.MustCompile("left-out")}
	g.Expect(f.judge(place{a, "v1.14.0", "v1.36.3", false, false, true}, c.choose(a, []*Suite{suite}))).To(Succeed())
	g.Expect(f.Run).To(Equal(2))
	g.Expect(f.Known).To(Equal(1))
	reasons := map[string]int{}
	for _, s := range f.Skipped {
		reasons[s.Reason] = len(s.IDs)
	}
	g.Expect(reasons).To(Equal(map[string]int{
		noHook: 2, "promised since Karpenter 1.15; this is v1.14.0": 1, "promised since Kubernetes 1.37; this is v1.36.3": 1,
		"it takes up to 1000h0m0s, which is too long for a clock that can't be bent": 1,
		"the feature gate NodeRepair is off in the adapter":                          1,
	}))
	g.Expect(f.Skipped[0].Reason).To(Equal(noHook), "the most frequent comes first")

	f = Forecast{}
	a.Controller.Gates = map[string]bool{"NodeRepair": true}
	g.Expect(f.judge(place{a, "v1.15.0", "v1.37.0", true, false, true}, Config{}.choose(a, []*Suite{suite}))).To(Succeed())
	g.Expect(f.Run).To(Equal(7))
	g.Expect(f.Skipped).To(HaveLen(1))
}
