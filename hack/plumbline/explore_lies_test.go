package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// A lie is found by what it breaks and the honest provider doesn't.
func TestALieIsFoundByWhatOnlyItBreaks(t *testing.T) {
	g := NewWithT(t)
	h := &lieHunt{exploration: &exploration{began: time.Now()}, lies: []lie{
		{Name: "a", Level: "core"}, {Name: "b", Level: "core"}, {Name: "c", Level: "core", Lie: "it does nothing"},
	}, rounds: []lieRound{
		{Seed: 1, Broke: []string{"the honest one breaks it"}},
		{Seed: 1, Lie: "a", Broke: []string{"the honest one breaks it", "only a breaks it"}, After: 5 * time.Second},
		{Seed: 1, Lie: "b", Broke: []string{"the honest one breaks it"}},
		{Seed: 2, Lie: "b", Broke: []string{"the honest one breaks it"}, After: 9 * time.Second},
		{Seed: 2, Lie: "c", Infra: "the watch has a gap"},
	}}
	g.Expect(h.left()).To(Equal([]string{"c"}))
	g.Expect(h.played(lieRound{Lie: "b", Seed: 2})).NotTo(BeNil())
	g.Expect(h.played(lieRound{Lie: "c", Seed: 1})).To(BeNil())
	g.Expect(h.text()).To(And(ContainSubstring("2 of 3 in "), ContainSubstring("by 5 sequences; 1 of them say nothing"),
		ContainSubstring("| a | core | 1 | 5s | only a breaks it |"),
		ContainSubstring("| b | core | 2 | 9s | the honest one breaks it |"),
		ContainSubstring("| c | core | 1 | it does nothing |")))
}

// What several lies break is searched for the one that breaks it when it is told alone. What needn't be played isn't:
// the rounds here are all that may be.
func TestALieIsSearchedAmongSeveral(t *testing.T) {
	g := NewWithT(t)
	broke := []string{"it breaks"}
	h := &lieHunt{exploration: &exploration{began: time.Now()}, lies: []lie{
		{Name: "a", Level: "core"},
		{Name: "b", Level: "schema"},
		{Name: "c", Level: "core"},
		{Name: "d", Level: "core"},
		{Name: "e", Level: "cloud"},
	}, rounds: []lieRound{
		{Seed: 1},
		{Seed: 1, Lie: "a,c,d,e", Broke: broke},
		{Seed: 1, Lie: "a,c"},
		{Seed: 1, Lie: "d"},
		{Seed: 1, Lie: "e", Broke: broke},
		{Seed: 1, Lie: "b"},
	}}
	g.Expect(h.left()).To(Equal([]string{"a", "c", "d", "b"}), "e is found, and what changes the cluster comes last")
	for _, group := range []struct {
		lies []string
		any  bool
	}{{[]string{"a", "c", "d", "e"}, true}, {[]string{"b"}, false}} {
		g.Expect(h.search(t.Context(), nil, 1, group.lies, false)).To(Equal(group.any), "%v", group.lies)
	}
	g.Expect(h.text()).To(And(ContainSubstring("1 of 5 in "), ContainSubstring("| d | core | 2 |")),
		"a sequence with several lies is one of each")
	g.Expect(h.due(1)).To(BeEmpty())
	g.Expect(h.due(2)).To(Equal(h.left()))
	h.rounds = append(h.rounds, lieRound{Seed: 2, Lie: "b,d", Broke: broke}, lieRound{Seed: 2, Lie: "a,c"})
	g.Expect(h.due(2)).To(Equal([]string{"d", "b"}), "one of them or both broke something, and two didn't")
}

func TestHalfOfTheSequencesAreToBreakSomething(t *testing.T) {
	g := NewWithT(t)
	for _, last := range []struct{ tried, found, want int }{
		{40, 40, 1}, {40, 10, 6}, {30, 5, 8}, {30, 1, mostTogether}, {30, 0, mostTogether},
	} {
		g.Expect(togetherNext(last.tried, last.found)).To(Equal(last.want), "%+v", last)
	}
}

// A sample says how many of all lies would be found, in a fraction of the time.
func TestASampleOfLiesIsTheSameForTheSameSeed(t *testing.T) {
	g := NewWithT(t)
	x := &exploration{seed: 7, lies: []lie{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}
	g.Expect(x.drawLies()).To(Equal(x.lies), "all without N")
	x.sample = 2
	g.Expect(x.drawLies()).To(HaveLen(2))
	g.Expect(x.drawLies()).To(Equal(x.drawLies()))
	others := &exploration{seed: 9, sample: 2, lies: x.lies}
	g.Expect(others.drawLies()).NotTo(Equal(x.drawLies()))
	x.sample = 9
	g.Expect(x.drawLies()).To(HaveLen(4), "no more than there are")
}

// The sequence that shows most comes first, then what adds most to it.
func TestSequencesThatShowMostComeFirst(t *testing.T) {
	g := NewWithT(t)
	const long = time.Minute
	h := &lieHunt{rounds: []lieRound{
		{Seed: 1, Transitions: []string{"a", "b"}},
		{Seed: 2, Transitions: []string{"a", "b", "c"}},
		{Seed: 3, Transitions: []string{"d"}},
		{Seed: 4, Infra: "the watch has a gap"},
		{Seed: 5},
		{Seed: 5, Lie: "x", Transitions: []string{"a", "b", "c", "d", "e"}},
		{Seed: 6, Transitions: []string{"e", "f", "g", "h"}, Took: 9 * time.Second},
		{Seed: 7, Transitions: []string{"i", "j", "k", "l"}, Broke: []string{"the honest one breaks it"}},
		{Seed: 8, Took: long, Transitions: []string{"m"}},
		{Seed: 9, Took: long},
		{Seed: 10, Took: long},
		{Seed: 11, Took: long},
		{Seed: 12, Took: long},
		{Seed: 1 + honestFirst, Transitions: []string{"a", "b", "c", "d", "e"}},
	}}
	g.Expect(h.newestFirst(1)).To(Equal([]int{2, 3, 6, 1, 5, 7}),
		"that of seed 6 takes some time, that of seed 7 breaks something by itself, and half of them take longer")
	g.Expect(h.newestFirst(99)).To(BeEmpty())
}
