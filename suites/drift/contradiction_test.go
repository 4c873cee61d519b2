package drift

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The finding excuses sequences only if a NodePool contradicts itself.
func TestContradictory(t *testing.T) {
	g := NewWithT(t)
	team := fixtures.Key("team")
	allowing := func(values ...string) *fixtures.Pool {
		return fixtures.NodePool().Require(team, fixtures.In, values...)
	}
	for _, pool := range []*fixtures.Pool{
		allowing("blue").Label(team, "red"),
		allowing("green").Label(team, "red").Annotation(team, "blue"),
		allowing("red").Label(team, "blue"),
		allowing("red").Label(team, "blue").Require(fixtures.Key("size"), fixtures.Gt, "3"),
		allowing("red").Label(team, "blue").Label(fixtures.Key("template"), "1").Taint(team, fixtures.NoSchedule),
		allowing("red", "green").Label(team, "blue"),
	} {
		g.Expect(sequenceOf(g, pool)).To(MatchRegexp(contradictory))
		g.Expect(sequenceOf(g, fixtures.NodePool(), pool)).To(MatchRegexp(contradictory))
	}
	for _, pool := range []*fixtures.Pool{
		allowing("red"),
		allowing("green").OwnLabel(team, "red"),
		allowing("green").Annotation(team, "red"),
		allowing("red", "green").Label(team, "red"),
		allowing("red", "blue").Label(team, "blue"),
		allowing("blue", "green").Label(team, "blue"),
		fixtures.NodePool().Label(team, "red").Require(team, fixtures.Exists),
		fixtures.NodePool().Label(team, "blue"),
	} {
		g.Expect(sequenceOf(g, pool)).NotTo(MatchRegexp(contradictory))
		g.Expect(sequenceOf(g, pool, allowing("green"))).NotTo(MatchRegexp(contradictory))
	}
}

// sequenceOf returns a sequence that applies NodePools and then waits, as YAML.
func sequenceOf(g *WithT, pools ...*fixtures.Pool) string {
	var s explore.Sequence
	for _, pool := range pools {
		s.Actions = append(s.Actions, explore.Action{Do: explore.Apply, Object: pool.Unstructured().Object})
	}
	s.Actions = append(s.Actions, explore.Action{Do: explore.Wait})
	text, err := s.YAML()
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}
