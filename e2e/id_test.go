package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnIDIsWhereTheSpecIsDeclared(t *testing.T) {
	g := NewWithT(t)
	suite := NewSuite("node drift")
	alone := suite.Add(Spec{Name: "replaces nodes", Run: nothing})
	g.Expect(alone.ID()).To(Equal("e2e/id"), "the folder and the file, whatever the suite is called")
	g.Expect(suite.Add(Spec{Name: "is slow", Row: "slow", Run: nothing}).ID()).To(Equal("e2e/id/slow"))
	g.Expect(func() {
		suite.Add(Spec{Name: "is quick", Run: nothing})
	}).To(PanicWith(ContainSubstring("two specs with the ID e2e/id:")))

	reworded := *alone
	reworded.Name = "gives nodes others in their place"
	g.Expect(NewSuite("drift").Add(reworded).ID()).To(Equal("e2e/id"), "a copy is the same promise")
	g.Expect(fit("one_to_one")).To(Equal("one-to-one"))
	g.Expect(fit("Drift2_test")).To(Equal("drift2"))
}

func TestIDsAreDistinctInAllSuites(t *testing.T) {
	g := NewWithT(t)
	a, b := NewSuite("a"), NewSuite("b")
	a.Add(Spec{Name: "replaces nodes", Run: nothing})
	b.Add(Spec{Name: "replaces pods", Row: "pods", Run: nothing})
	g.Expect(checkIDsDiffer([]*Suite{a, b})).To(Succeed())
	b.Add(Spec{Name: "replaces nodes", Run: nothing})
	g.Expect(checkIDsDiffer([]*Suite{a, b})).
		To(MatchError(MatchRegexp(`^two specs have the ID e2e/id: at .*id_test\.go:\d+ and at .*id_test\.go:\d+$`)))
	g.Expect(func() { Register(nil, a, b) }).To(PanicWith(MatchError(ContainSubstring("two specs have the ID"))))
}

func TestAnIDThatIsMistypedIsProposed(t *testing.T) {
	g := NewWithT(t)
	suites := twoSuites()
	spec, err := Find(suites, "e2e/config/slow")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.Name).To(Equal("is slow"))
	_, err = Find(suites, "e2e/config/slwo")
	g.Expect(err).
		To(MatchError("there is no spec e2e/config/slwo, did you mean e2e/config/slow? `make list` shows them all"))
	_, err = Find(suites, "drift replaces nodes")
	g.Expect(err).To(MatchError("there is no spec drift replaces nodes; `make list` shows them all"))
}
