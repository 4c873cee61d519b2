package invariant

import (
	"strings"
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
)

// newest is a release that makes all promises.
const newest = "v99.0.0"

// outcome is what an invariant must find in a story.
type outcome struct {
	story   *historytest.Story
	verdict check.Verdict
	reason  string // the finding's reason contains it
}

func judgeEach(t *testing.T, i Invariant, stories map[string]outcome) {
	t.Helper()
	if i.Name == "" || i.Source == "" {
		t.Errorf("an invariant has a name and a source: %+v", i)
	}
	for name, o := range stories {
		t.Run(name, func(t *testing.T) {
			f := i.Check(Params{Core: newest}).Judge(o.story.History())
			if f.Verdict != o.verdict || !strings.Contains(f.Reason, o.reason) {
				t.Errorf("want %s, %q; got %s", o.verdict, o.reason, f)
			}
		})
	}
}
