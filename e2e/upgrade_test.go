package e2e

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestUpgradesNeedTwoReleases(t *testing.T) {
	g := NewWithT(t)
	upgrading, other := []*Suite{{Upgrades: true}, {}}, []*Suite{{}}
	g.Expect(Config{}.checkUpgrades(upgrading)).To(MatchError(ContainSubstring("say in TO to which release")))
	g.Expect(Config{To: "v1.15.0"}.checkUpgrades(upgrading)).To(Succeed())
	g.Expect(Config{ToProvider: "kwok"}.checkUpgrades(upgrading)).To(Succeed())
	g.Expect(Config{ToImage: "x:y"}.checkUpgrades(other)).To(MatchError(ContainSubstring("TO=x:y: none of these specs")))
	g.Expect(Config{}.checkUpgrades(other)).To(Succeed())
}

func TestWhatIsUpgraded(t *testing.T) {
	g := NewWithT(t)
	a := &providers.Adapter{Name: "acme", Source: providers.Source{Version: "v1.14.3"}}
	g.Expect(Config{}.target(a)).To(BeNil())
	g.Expect(Config{}.subject(a)).To(Equal("acme"))

	c := Config{To: "v1.15.0", ToImage: "x:y", Gates: map[string]bool{"StaticCapacity": true}}
	to := c.target(a)
	g.Expect(to.Release).To(Equal("v1.15.0"))
	g.Expect(to.Image).To(Equal("x:y"))
	g.Expect(to.Adapter.Controller.Gates).To(HaveKeyWithValue("StaticCapacity", true))
	c.upgradedTo = &report.Upgrade{Version: "v1.15.0"}
	g.Expect(c.subject(a)).To(Equal("acme, upgraded from v1.14.3 to v1.15.0 x:y,"))

	g.Expect(Config{ToProvider: "kwok"}.target(a).Adapter.Name).To(Equal("kwok"))
}

func TestSpecsThatUpgradeAreSkippedWithoutAnotherRelease(t *testing.T) {
	s := &Suite{Name: "upgrade:", Upgrades: true}
	spec := s.Add(Spec{Name: "keeps nodes", Run: nothing})
	a := &providers.Adapter{
		Capabilities: map[providers.Capability]providers.Support{providers.NodePools: {State: providers.Supported}},
	}
	g := NewWithT(t)
	g.Expect(skipReason(place{adapter: a}, spec)).To(ContainSubstring("no release to upgrade to is given (TO)"))
	g.Expect(skipReason(place{adapter: a, upgrades: true}, spec)).To(BeEmpty())
}
