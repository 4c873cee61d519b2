package main

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/suites"
)

// specsReaching returns the specs that a mutant makes a difference to, the most telling first: those that caught
// others in its function, then those whose sentences, reach and catch in its file are closest to it, then the
// quickest. Rows of one table see much the same, so that each table's first row comes before any second one.
func (m *mutants) specsReaching(x mutant) []string {
	caught, near := map[string]int{}, m.closeWords(x)
	for _, other := range m.all {
		r := m.results[other.Name]
		if r.Verdict != mutantCaught || other.File != x.File {
			continue
		}
		near[r.By] += 0.2
		if other.Function == x.Function {
			caught[r.By]++
		}
	}
	for spec, reach := range m.closeReach(x) {
		near[spec] += reach
	}
	specs := m.reaching(x)
	slices.SortFunc(specs, func(a, b string) int {
		return cmp.Or(cmp.Compare(caught[b], caught[a]), cmp.Compare(near[b], near[a]),
			cmp.Compare(m.coverage[a].Took, m.coverage[b].Took), strings.Compare(a, b))
	})
	rows, row := map[string]int{}, map[string]int{}
	for _, spec := range specs {
		table := spec
		if parts := strings.Split(spec, "/"); len(parts) > 2 {
			table = strings.Join(parts[:2], "/")
		}
		row[spec] = rows[table]
		rows[table]++
	}
	slices.SortStableFunc(specs, func(a, b string) int { return cmp.Compare(row[a], row[b]) })
	return specs
}

// reaching returns the specs that a mutant makes a difference to, in no order.
func (m *mutants) reaching(x mutant) []string {
	var specs []string
	for spec, c := range m.coverage {
		if c.reaches(x.ID) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// closeReach says of each spec, from 0 to 1, how much of the mutant's function it reaches. What few specs reach
// counts most.
func (m *mutants) closeReach(x mutant) map[string]float64 {
	reach := map[string]float64{}
	all := 0.0
	for _, other := range m.all {
		if other.File != x.File || other.Function != x.Function {
			continue
		}
		reaching := m.reaching(other)
		for _, spec := range reaching {
			reach[spec] += 1 / float64(len(reaching))
		}
		if len(reaching) > 0 {
			all += 1 / float64(len(reaching))
		}
	}
	for spec := range reach {
		reach[spec] /= all
	}
	return reach
}

// closeWords says of each spec, from 0 to 1, how many words of the mutant its ID and its sentence have. Words that
// few specs have count most.
func (m *mutants) closeWords(x mutant) map[string]float64 {
	sentences, count := wordsOfSpecs()
	mutated := wordsOf(x.Name + " " + x.Before + " " + x.After)
	shared, most := map[string]float64{}, 0.0
	for spec, words := range sentences {
		for word := range words.Intersection(mutated) {
			shared[spec] += math.Log(float64(len(sentences)) / float64(count[word]))
		}
		most = max(most, shared[spec])
	}
	for spec := range shared {
		shared[spec] /= most
	}
	return shared
}

// wordsOfSpecs returns the words of each spec, by its ID, and how many specs have a word.
var wordsOfSpecs = sync.OnceValues(func() ( //nolint:gochecknoglobals // it never changes
	map[string]sets.Set[string], map[string]int,
) {
	sentences, count := map[string]sets.Set[string]{}, map[string]int{}
	for _, suite := range suites.All() {
		for _, spec := range suite.Specs() {
			sentences[spec.ID()] = wordsOf(spec.ID() + " " + spec.Name)
			for word := range sentences[spec.ID()] {
				count[word]++
			}
		}
	}
	return sentences, count
})

// aWord is a part of a name in Go, or a word of a sentence.
var aWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// wordsOf returns the words of three letters or more, in lower case and without a plural's s.
func wordsOf(text string) sets.Set[string] {
	words := sets.New[string]()
	for _, word := range aWord.FindAllString(text, -1) {
		if word = strings.TrimSuffix(strings.ToLower(word), "s"); len(word) > 2 {
			words.Insert(word)
		}
	}
	return words
}
