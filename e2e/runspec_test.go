package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestASpecHasTimeForItsHooks(t *testing.T) {
	a := &providers.Adapter{
		Capabilities: map[providers.Capability]providers.Support{
			providers.NodeRepair: {Toleration: 10 * time.Minute}, providers.InstanceGC: {Within: 3 * time.Minute},
		},
		Hooks: map[providers.HookName]providers.Hook{
			providers.UnreadyNodeClass: {Within: 4 * time.Minute},
			providers.FailNextLaunch:   {Poison: 3 * time.Minute},
			providers.LoseAnswer:       {Poison: time.Hour}, // instead, the controller is restarted
		},
	}
	for name, c := range map[string]struct {
		spec Spec
		want time.Duration
	}{
		"none":    {Spec{}, DefaultWithin},
		"its own": {Spec{Within: time.Hour}, time.Hour},
		"capabilities": {
			Spec{Needs: []providers.Capability{providers.NodeRepair, providers.InstanceGC}}, 15 * time.Minute,
		},
		"a slow effect":          {Spec{Hooks: []providers.HookName{providers.UnreadyNodeClass}}, 6 * time.Minute},
		"a failure remembered":   {Spec{Hooks: []providers.HookName{providers.FailNextLaunch}}, 5 * time.Minute},
		"remembered for an hour": {Spec{Hooks: []providers.HookName{providers.LoseAnswer}}, DefaultWithin},
		"of another spec":        {Spec{Hooks: []providers.HookName{providers.Throttle}}, DefaultWithin},
	} {
		NewWithT(t).Expect(withinOf(&c.spec, a)).To(Equal(c.want), name)
	}
}
