package e2e

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestTable(t *testing.T) {
	g := NewWithT(t)
	s := NewSuite("operators")
	named := func(name string) Spec {
		return Spec{Name: name, Run: func(context.Context, *Env) {}}
	}
	specs := Table(s, map[string]string{"has": "exists", "among": "in"}, named)
	g.Expect(specs).To(HaveLen(2))
	g.Expect(s.Specs()).To(ConsistOf(specs[0], specs[1]))
	g.Expect(specs[0].Name).To(Equal("in"))
	g.Expect(specs[1].Source()).To(MatchRegexp(`spec_test\.go:\d+$`), "the table, whose comment is the promise")
	g.Expect(specs[0].ID()).To(Equal("e2e/spec/among"))
	g.Expect(specs[1].ID()).To(Equal("e2e/spec/has"))
	g.Expect(func() {
		Table(s, map[string]string{"other": "in"}, named)
	}).To(PanicWith(ContainSubstring(`two specs named "in"`)))
	g.Expect(func() {
		Table(s, map[string]string{"has": "is there"}, named)
	}).To(PanicWith(ContainSubstring("two specs with the ID e2e/spec/has")))
	g.Expect(func() {
		Table(s, map[string]string{"Is there": "is there"}, named)
	}).To(PanicWith(ContainSubstring("small letters")))
}

func TestASuiteSpeaksForItsSpecs(t *testing.T) {
	g := NewWithT(t)
	run := func(context.Context, *Env) {}
	alone := []providers.Capability{providers.StandaloneNodeClaims}
	plain, static := NewSuite("plain"),
		&Suite{Name: "static", Needs: alone, Gate: "StaticCapacity", Since: Since{Karpenter: "1.8"}}
	g.Expect(plain.Add(Spec{Name: "a", Run: run}).Needs).To(ConsistOf(providers.NodePools), "by default")
	g.Expect(plain.Add(Spec{Name: "b", Row: "b", Run: run, Needs: alone}).Needs).To(Equal(alone))
	g.Expect(static.Add(Spec{Name: "c", Run: run})).To(And(
		HaveField("Needs", alone), HaveField("Gate", "StaticCapacity"), HaveField("Since.Karpenter", "1.8")))
	g.Expect(static.Add(Spec{Name: "d", Row: "d", Run: run, Since: Since{Karpenter: "1.9"}}).Since.Karpenter).
		To(Equal("1.9"))
}

func TestABreachMustNameAnInvariant(t *testing.T) {
	g := NewWithT(t)
	const budgets = "disruption budgets are never exceeded"
	add := func(b Breach) func() {
		return func() { NewSuite("x").Add(Spec{Name: "y", Run: nothing, Breaks: []Breach{b}}) }
	}
	g.Expect(add(Breach{Invariant: budgets, Why: "it edits the status"})).NotTo(Panic())
	g.Expect(add(Breach{Invariant: budgets})).To(PanicWith(ContainSubstring("and why")))
	g.Expect(add(Breach{Invariant: "all is well", Why: "it isn't"})).
		To(PanicWith(ContainSubstring("the name of an invariant")))
}
