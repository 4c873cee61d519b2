package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
)

func TestPartsOfLiesMakeTheWhole(t *testing.T) {
	g := NewWithT(t)
	lies := []lie{{Name: "c"}, {Name: "a"}, {Name: "b"}}
	var parts []foundPart[liesReport]
	for n := 1; n <= 2; n++ {
		s := e2e.Shard{Part: n, Of: 2}
		r := newLiesReport(part(s, lies), true)
		r.Part, r.Took, r.Honest.Specs = partOf(s, lies), float64(n), n
		parts = append(parts, foundPart[liesReport]{folder: "somewhere", part: *r.Part, said: *r})
	}
	g.Expect(partOf(e2e.Shard{}, lies)).To(BeNil())

	all, missing, err := joinLies(parts)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).NotTo(HaveOccurred())
	g.Expect(all.Lies).To(HaveExactElements(HaveField("Name", "a"), HaveField("Name", "b"), HaveField("Name", "c")))
	g.Expect(all.Complete).To(BeTrue())
	g.Expect(all.Took).To(BeEquivalentTo(2))
	g.Expect(all.Honest.Specs).To(Equal(3))

	all, missing, err = joinLies(parts[1:])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).To(MatchError("part 1/2 is missing"))
	g.Expect(all.Complete).To(BeFalse())

	other := parts[0]
	other.part = *partOf(e2e.Shard{Part: 1, Of: 2}, lies[:2])
	_, _, err = joinLies(append(parts, other))
	g.Expect(err).To(MatchError(And(ContainSubstring("are of different runs"), ContainSubstring("is there twice"))))
}
