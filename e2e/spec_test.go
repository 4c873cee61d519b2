package e2e

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTable(t *testing.T) {
	g := NewWithT(t)
	s := NewSuite("operators")
	named := func(name string) Spec {
		return Spec{Name: name, Run: func(context.Context, *Env) {}}
	}
	specs := Table(s, []string{"in", "exists"}, named)
	g.Expect(specs).To(HaveLen(2))
	g.Expect(s.Specs()).To(ConsistOf(specs[0], specs[1]))
	g.Expect(specs[0].Name).To(Equal("in"))
	g.Expect(specs[1].Source()).To(MatchRegexp(`spec_test\.go:\d+$`), "the table, whose comment is the promise")
	g.Expect(func() { Table(s, []string{"in"}, named) }).To(PanicWith(ContainSubstring("two specs")))
}
