package env

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestUnhealthyNodesAreLeftAloneForAWhile(t *testing.T) {
	for says, want := range map[time.Duration]struct{ toleration, ahead time.Duration }{
		0:                {15 * time.Second, 15 * time.Second},
		10 * time.Second: {15 * time.Second, 5 * time.Second},
		10 * time.Minute: {10 * time.Minute, 0},
	} {
		e := &Env{place: &Place{Adapter: &providers.Adapter{Capabilities: map[providers.Capability]providers.Support{
			providers.NodeRepair: {Toleration: says},
		}}}}
		g := NewWithT(t)
		g.Expect(e.Toleration()).To(Equal(want.toleration), says.String())
		g.Expect(e.ahead(providers.NodeRepair)).To(Equal(want.ahead), says.String())
	}
}
