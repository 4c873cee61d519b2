package invariant

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const manyEvents = 100_000

// BenchmarkJudge judges 100,000 undecoded events by all invariants, then by each of them
// alone.
func BenchmarkJudge(b *testing.B) {
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			h := long(b, manyEvents)
			b.StartTimer()
			Judge(h, Params{})
		}
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s-to-judge-100000-events")
	})
	h := long(b, manyEvents)
	for _, f := range Judge(h, Params{}) {
		b.Logf("%s: %s, tested %d times", f.Check, f.Verdict, f.Tested)
	}
	for _, i := range All() {
		b.Run(i.Name, func(b *testing.B) {
			for b.Loop() {
				i.Check(Params{}).Judge(h)
			}
		})
	}
}

// long returns a recording of n events: a real one repeated. Each copy has its own pools,
// NodeClaims, nodes and pods, which exist from the start.
func long(tb testing.TB, n int) *history.History {
	tb.Helper()
	short := load(tb, "../check/testdata/drift.jsonl.gz")
	var start []history.Event
	for _, r := range short.Start().Resources() {
		if r == karpenter.Events { // the copies would be far too many
			continue
		}
		for _, o := range short.Start().List(r) {
			start = append(start, history.Event{Type: watch.Added, Resource: r, Object: o})
		}
	}
	copies := n/len(short.Events()) + 1
	lasted := short.Taken().Sub(short.Events()[0].Time)
	var events []history.Event
	for i := range copies {
		for _, e := range start {
			e.Time = short.Start().Time()
			events = append(events, another(tb, e, i))
		}
	}
	from := len(events)
	for i := range copies {
		for _, e := range short.Events() {
			e.Time = e.Time.Add(time.Duration(i) * lasted)
			events = append(events, another(tb, e, i))
		}
	}
	return history.New(events[:from+n], nil).From(from)
}

// another returns the same event of another object.
func another(tb testing.TB, e history.Event, i int) history.Event {
	tb.Helper()
	raw := bytes.ReplaceAll(e.Object.Raw(), []byte("drift"), fmt.Appendf(nil, "drift%d", i))
	raw = bytes.ReplaceAll(raw, []byte(`"uid":"`), fmt.Appendf(nil, `"uid":"%d-`, i))
	o, err := history.NewObject(raw)
	if err != nil {
		tb.Fatal(err)
	}
	e.Object = o
	return e
}
