package invariant

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// TestHonestRecordings checks that real recordings of honest providers break no invariant. One
// is in the repository. PLUMBLINE_HISTORIES names more, as patterns separated by colons
// ("_artifacts/*/histories/*.jsonl.gz").
func TestHonestRecordings(t *testing.T) {
	files := []string{"../check/testdata/drift.jsonl.gz"}
	for pattern := range strings.SplitSeq(os.Getenv("PLUMBLINE_HISTORIES"), ":") {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	verdicts := map[string]map[check.Verdict]int{}
	for _, file := range files {
		h := load(t, file)
		for i, f := range Judge(h, Params{}) {
			name := All()[i].Name
			if verdicts[name] == nil {
				verdicts[name] = map[check.Verdict]int{}
			}
			verdicts[name][f.Verdict]++
			if f.Verdict == check.Broken && !knownBreach(file, name) {
				t.Errorf("%s: %s", file, f)
			}
		}
	}
	for _, i := range All() {
		t.Log(fmt.Sprint(i.Name, ": ", verdicts[i.Name]))
	}
}

// knownBreach reports whether a release does break this rule in this spec: one batch launches
// more nodes than limits.nodes allows (upstream issue 2915).
func knownBreach(file, name string) bool {
	return name == poolLimitsHold().Name && strings.Contains(file, "limit-of-nodes-within-one-batch")
}

func load(t testing.TB, file string) *history.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := history.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
