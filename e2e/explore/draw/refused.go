package draw

import (
	"fmt"
	"regexp"
	"strconv"

	"pgregory.net/rapid"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// TryFeatures returns a sequence that shows which features of NodePools and workloads the API server refuses: it
// applies an object with each. No pods come of it.
func TryFeatures(d Domain) explore.Sequence {
	s := rapid.Custom(func(t *rapid.T) explore.Sequence {
		w := &world{t: t, domain: d}
		for i, f := range d.features() {
			name := fmt.Sprint(tried, i)
			switch {
			case f.pool != nil:
				pool := fixtures.NodePool().Called(name)
				f.pool(w, pool)
				w.atOnce(applying(pool))
			case f.workload != nil:
				app := fixtures.Deployment(0).Called(name)
				f.workload(w, app)
				w.atOnce(applying(app))
			}
		}
		return explore.Sequence{Actions: w.actions}
	}).Example(1)
	s.Name = "try-features"
	return s
}

// tried begins the names of the objects of TryFeatures. The feature's number follows.
const tried = "try"

// leftOut matches the note of a sequence that the API server has refused such an object.
var leftOut = regexp.MustCompile(`apply \w+ ` + tried + `(\d+) was left out: `)

// WithoutRefused returns a domain without the features that the API server has refused, by the note of TryFeatures'
// outcome.
func (d Domain) WithoutRefused(note string) Domain {
	all := d.features()
	for _, match := range leftOut.FindAllStringSubmatch(note, -1) {
		if i, err := strconv.Atoi(match[1]); err == nil && i < len(all) {
			d.Refused = append(d.Refused, all[i].name)
		}
	}
	return d
}
