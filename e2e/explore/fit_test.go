package explore

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

// All that a provider lacks for a sequence is said, with the places.
func TestWhatAProviderLacks(t *testing.T) {
	g := NewWithT(t)
	object := func(kind string, spec map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a"}, "spec": spec,
		}
	}
	s := Sequence{Provider: "acme", Actions: []Action{
		{Do: Apply, Object: object("NodePool", map[string]any{})},
		{Do: Apply, Object: object("NodePool", map[string]any{"replicas": int64(3)})},
		{Do: CallHook, Hook: providers.Interrupt},
		{Do: BreakNode},
		{Do: Apply, Object: object("NodeClaim", nil)},
	}}
	poor := &providers.Adapter{Name: "poor", Capabilities: map[providers.Capability]providers.Support{
		providers.NodePools:            {State: providers.Supported},
		providers.StandaloneNodeClaims: {State: providers.Supported},
	}}
	g.Expect(s.CheckFor(poor)).To(MatchError(And(ContainSubstring("it was made for the provider acme, not poor"),
		ContainSubstring("action 2, apply NodePool a: "), ContainSubstring("action 3, hook interrupt node 0: "),
		ContainSubstring("action 4, break-node node 0: "), Not(ContainSubstring("action 1")),
		Not(ContainSubstring("action 5")))))
	g.Expect(s.Needs()).To(ConsistOf(providers.NodePools, providers.StaticCapacity, providers.NodeRepair,
		providers.StandaloneNodeClaims))
	s.Provider, s.Actions = "", s.Actions[:1]
	g.Expect(s.CheckFor(poor)).To(Succeed())
}
