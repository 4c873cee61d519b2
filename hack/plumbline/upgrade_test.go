package main

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites/upgrade"
)

func TestMistakesInAnUpgradeAreSaidTogether(t *testing.T) {
	a := providers.Named("kwok")
	for _, c := range []struct {
		about string
		upgrading
		want []string
	}{
		{"nothing said", upgrading{}, []string{"FROM says no release", "TO says no release", "make upgrade FROM="}},
		{"the same", upgrading{from: "v1.15.0", to: "v1.15.0"}, []string{"FROM and TO are the same, v1.15.0"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			err := c.check(t.Context(), a)
			for _, want := range c.want {
				NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
			}
		})
	}
	NewWithT(t).Expect(upgrading{fromImage: "a:1", toImage: "a:2"}.check(t.Context(), a)).To(Succeed())
}

func TestWhichReleaseIsNewer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(isNewer("v1.15.0", "v1.9.0")).To(BeTrue())
	g.Expect(isNewer("v1.9.0", "v1.15.0")).To(BeFalse())
	g.Expect(isNewer("v1.15.1-0.20260819221709-6e7eab7a0f48", "v1.9.0")).To(BeFalse(), "a commit")
	g.Expect(isNewer("", "v1.9.0")).To(BeFalse(), "an image")
}

func TestAnUpgradeTurnsOnTheGatesOfItsSpecs(t *testing.T) {
	g := NewWithT(t)
	a := providers.Named("kwok")
	g.Expect(upgradeGates(a, nil)).To(Equal("CapacityBuffer=true,StaticCapacity=true"))
	g.Expect(upgradeGates(a, map[string]bool{"StaticCapacity": false, "NodeRepair": true})).
		To(Equal("CapacityBuffer=true,NodeRepair=true,StaticCapacity=false"))
}

func TestTheTableOfUpgradesKeepsOtherRows(t *testing.T) {
	g := NewWithT(t)
	one := upgrading{provider: "kwok", from: "v1.0.8", to: "v1.1.5"}
	other := upgrading{provider: "aws", from: "v1.0.8", to: "v1.14.1"}
	all := []upgrading{one, other}
	first := upgrade.Suite.Specs()[0].ID()
	skipped := []report.Outcome{{ID: first, Verdict: report.Skipped, Reason: "it's too old"}}
	table := upgradesTable(all, one, skipped, nil, "")
	g.Expect(table).To(ContainSubstring("| kwok v1.0.8 → v1.1.5 | – |"))
	g.Expect(table).To(ContainSubstring("- kwok v1.0.8 → v1.1.5: back skipped: it's too old\n"))

	table = upgradesTable(all, other, nil, errors.New("no build\nof it"), table)
	g.Expect(table).To(ContainSubstring("| kwok v1.0.8 → v1.1.5 | – |"))
	g.Expect(table).To(ContainSubstring("- kwok v1.0.8 → v1.1.5: back skipped: it's too old\n" +
		"- aws v1.0.8 → v1.14.1: no build\n"))

	table = upgradesTable(all, one, []report.Outcome{{ID: first, Verdict: report.Passed}}, nil, table)
	g.Expect(table).To(ContainSubstring("| kwok v1.0.8 → v1.1.5 | ✓ |"))
	g.Expect(table).NotTo(ContainSubstring("too old"))
}

func TestWhichUpgradesAreChosen(t *testing.T) {
	g := NewWithT(t)
	g.Expect(chosenUpgrades(matrix(), "", "", "")).To(HaveLen(len(matrix())))
	g.Expect(chosenUpgrades(matrix(), "", "v1.0.8", "")).To(HaveLen(4))
	g.Expect(chosenUpgrades(matrix(), "aws", "v1.0.8", "")).To(HaveLen(2))
	g.Expect(chosenUpgrades(matrix(), "azure", "", "")).To(BeEmpty())
}

func TestALieOfAnUpgradeIsToldByTheNewRelease(t *testing.T) {
	g := NewWithT(t)
	l := lie{Name: "upgrades-to-lie", Tells: "lies", From: "v1.6.4", Level: upgrades, Specs: []string{"upgrade/nodes"}}
	honest, lying, kept := trials([]lie{l})
	g.Expect(kept).To(BeEmpty())
	for _, c := range []struct {
		trial
		lie string
	}{{lying[0], "LIE=lies"}, {honest[0], "LIE="}} {
		g.Expect(c.test).To(Equal(upgradeTest))
		g.Expect(c.environ([]string{"TO=v1.15.0"}, "/art")).To(ContainElements(c.lie, "PROVIDER=kwok", "KARPENTER=v1.6.4",
			"TO=", "TO_PROVIDER=providers/faulty/adapter.yaml", "FOCUS=^(upgrade/nodes)$"))
	}
}
