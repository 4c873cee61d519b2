package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/providers"
)

func everything() Domain {
	return Domain{
		Zones: []string{"a", "b", "c"}, InstanceTypes: []string{"small", "middle", "large"},
		CapacityTypes: []string{"on-demand", "spot"}, Capabilities: providers.Capabilities(), Hooks: providers.HookNames(),
		Requests: []string{"patch nodeclaims.karpenter.sh/status", "watch pods", "call ec2:CreateFleet"},
	}
}

// Seeds are what a run reports: the same one must draw the same.
func TestASeedDrawsTheSame(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Draw(7, everything(), nil)).To(Equal(Draw(7, everything(), nil)))
	g.Expect(Draw(7, everything(), nil)).NotTo(Equal(Draw(8, everything(), nil)))
}

// What is drawn is well-formed, and comes back from YAML as it was.
func TestSequencesAreWellFormed(t *testing.T) {
	g := NewWithT(t)
	for seed := range 300 {
		s := Draw(seed, everything(), nil)
		text, err := s.YAML()
		g.Expect(err).NotTo(HaveOccurred())
		again, err := explore.Parse(string(text)) // which checks it
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again.YAML()).To(Equal(text))
	}
}

// Everything is drawn sooner or later.
func TestAllVerbsAndFeaturesAreDrawn(t *testing.T) {
	g := NewWithT(t)
	verbs, features := map[explore.Verb]bool{}, map[string]bool{}
	for seed := range 200 {
		s := Draw(seed, everything(), nil)
		g.Expect(s.Check()).To(Succeed())
		for _, a := range s.Actions {
			verbs[a.Do] = true
		}
		for _, f := range s.Features {
			features[f] = true
		}
	}
	for _, v := range explore.Verbs() {
		g.Expect(verbs).To(HaveKey(v))
	}
	for _, f := range Features(everything()) {
		g.Expect(features).To(HaveKey(f))
	}
}

// A provider without zones, spot or hooks gets sequences without them.
func TestADomainLimitsTheFeatures(t *testing.T) {
	g := NewWithT(t)
	poor := Features(Domain{InstanceTypes: []string{"one"}})
	g.Expect(poor).To(ContainElement("pods: CPU"))
	g.Expect(poor).NotTo(ContainElement(BeElementOf("pods: zones", "pool: replicas", "cloud: interrupt",
		"fault: fail", "pool: minValues")))
	for seed := range 50 {
		for _, a := range Draw(seed, Domain{}, nil).Actions {
			g.Expect(a.Do).NotTo(BeElementOf(explore.CallHook, explore.Fault, explore.BreakNode))
		}
	}
}

// An earlier release gets sequences without what it doesn't promise yet.
func TestAReleaseLimitsTheFeatures(t *testing.T) {
	g := NewWithT(t)
	d := everything()
	for release, lacks := range map[string][]string{
		"v1.6.4":  {"CapacityBuffer", "a NodeOverlay", "pool: limit of nodes", "pool: replicas"},
		"v1.11.0": {"CapacityBuffer"}, "v1.15.0": {}, "main": {}, "": {},
	} {
		d.Karpenter = release
		missing := slices.DeleteFunc(Features(everything()), func(f string) bool { return slices.Contains(Features(d), f) })
		g.Expect(slices.DeleteFunc(missing, func(f string) bool { return strings.HasPrefix(f, "pods that fit nowhere: ") })).
			To(ConsistOf(lacks), release)
	}
}

// What the API server refuses once isn't drawn any more.
func TestRefusedFeaturesAreNotDrawn(t *testing.T) {
	g := NewWithT(t)
	d := everything()
	s := TryFeatures(d)
	g.Expect(s.Check()).To(Succeed())
	g.Expect(TryFeatures(d)).To(Equal(s))
	i := slices.Index(Features(d), "pool: balanced consolidation")
	tried := slices.IndexFunc(s.Actions, func(a explore.Action) bool {
		return strings.HasSuffix(a.String(), fmt.Sprintf("NodePool try%d", i))
	})
	g.Expect(tried).To(BeNumerically(">=", 0))
	d = d.WithoutRefused("something else; " + s.Actions[tried].String() + " was left out: NodePool is invalid; more")
	g.Expect(d.Refused).To(ConsistOf("pool: balanced consolidation"))
	g.Expect(Features(d)).To(HaveLen(len(Features(everything())) - 1))
	g.Expect(Features(d)).NotTo(ContainElement("pool: balanced consolidation"))
}
