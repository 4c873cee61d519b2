package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestMadeFromTemplate(t *testing.T) {
	taint := func(key string) []any {
		return []any{map[string]any{"key": key, "effect": "NoSchedule"}, map[string]any{"key": "a", "effect": "NoExecute"}}
	}
	pool := func() *historytest.Thing {
		return historytest.Pool("p").Set("Never", "spec", "disruption", "consolidateAfter").
			Set("v", "spec", "template", "metadata", "labels", "l").Set("v", "spec", "template", "metadata", "annotations", "a").
			Set(taint("t"), "spec", "template", "spec", "taints").Set(taint("s"), "spec", "template", "spec", "startupTaints").
			Set("60m", "spec", "template", "spec", "expireAfter").Set("x", "spec", "template", "spec", "nodeClassRef", "name")
	}
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").Label("l", "v").Annotate("a", "v").Annotate("more", "v").
			Set(taint("t"), "spec", "taints").Set(taint("s"), "spec", "startupTaints").
			Set("1h0m0s", "spec", "expireAfter").Set("x", "spec", "nodeClassRef", "name")
	}
	later, again := stale+time.Second, stale+validation+time.Second
	story := func(pool, claim *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(pool).Start().After(time.Minute).Add(claim).After(later).Change(claim)
	}
	// changed returns a story of a pool whose label changed this long before a NodeClaim.
	changed := func(pool *historytest.Thing, ago time.Duration, claim *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(pool).Change(pool.Set("new", "spec", "template", "metadata", "labels", "l")).
			After(ago).Add(claim).After(later).Change(claim)
	}
	consolidating := pool().Set("30s", "spec", "disruption", "consolidateAfter")
	judgeEach(t, madeFromTemplate(), map[string]outcome{
		"as the template": {story(pool(), claim()), check.Holds, ""},
		"taints in another order": {
			story(pool(), claim().Set([]any{taint("t")[1], taint("t")[0]}, "spec", "taints")),
			check.Holds, "",
		},
		"without its label": {
			story(pool(), claim().Label("l", "w")), check.Broken,
			`label l is "w", and in the template "v"`,
		},
		"without its annotation": {story(pool(), claim().Annotate("a", "")), check.Broken, `annotation a is ""`},
		"without an empty label": {
			story(pool().Set("", "spec", "template", "metadata", "labels", "e"), claim()),
			check.Broken, "label e is not there",
		},
		"without a taint": {
			story(pool(), claim().Set(taint("t")[:1], "spec", "taints")), check.Broken,
			`taints is "t=:NoSchedule", and in the template "a=:NoExecute t=:NoSchedule"`,
		},
		"without startup taints": {
			story(pool(), claim().Set([]any{}, "spec", "startupTaints")), check.Broken,
			`startupTaints is ""`,
		},
		"with a taint of its own": {
			story(pool().Set([]any{}, "spec", "template", "spec", "taints"), claim()), check.Broken,
			"taints is",
		},
		"of another age": {
			story(pool(), claim().Set("2h", "spec", "expireAfter")), check.Broken,
			`expireAfter is "2h0m0s"`,
		},
		"of another NodeClass": {
			story(pool(), claim().Set("y", "spec", "nodeClassRef", "name")), check.Broken,
			"nodeClassRef.name",
		},
		"without a grace period": {
			story(pool().Set("5m", "spec", "template", "spec", "terminationGracePeriod"), claim()),
			check.Broken, "terminationGracePeriod",
		},
		"a provider's own period": {story(pool(), claim().Set("5m", "spec", "terminationGracePeriod")), check.Holds, ""},
		"just after a change":     {changed(pool(), stale-time.Second, claim()), check.Holds, ""},
		"after a change":          {changed(pool(), later, claim().Label("l", "new")), check.Holds, ""},
		"long after a change": {
			changed(pool(), later, claim()), check.Broken,
			`label l is "v", and in the template "new"`,
		},
		"to consolidate": {changed(consolidating, later, claim()), check.Holds, ""},
		"much later": {
			changed(pool().Set("0s", "spec", "disruption", "consolidateAfter"), again, claim()),
			check.Broken, "label l",
		},
		"before the change is seen": {
			historytest.Begin().Add(pool()).Add(claim().Label("l", "new")).After(time.Second).
				Change(pool().Set("new", "spec", "template", "metadata", "labels", "l")).After(later).Change(pool()),
			check.Holds, "",
		},
		"as the pool is much later": {historytest.Begin().Add(pool()).Add(claim().Label("l", "new")).After(later).
			Change(pool().Set("new", "spec", "template", "metadata", "labels", "l")), check.Broken, `label l is "new"`},
		"half of each": {historytest.Begin().Add(pool()).Change(pool().
			Set("new", "spec", "template", "metadata", "labels", "l").Set("2h", "spec", "template", "spec", "expireAfter")).
			Add(claim().Label("l", "new")).After(later).Change(claim()), check.Broken, "expireAfter"},
		"after its pool has gone": {historytest.Begin().Add(pool()).Delete(pool()).Add(claim().Label("l", "w")).After(later).
			Change(claim()), check.Broken, "label l"},
		"of an unknown pool": {
			historytest.Begin().Add(claim()).After(later).Change(claim()), check.Vacuous,
			"no NodeClaim was made",
		},
		"of no pool": {
			historytest.Begin().Add(pool(), historytest.NodeClaim("c")).After(later).Change(pool()),
			check.Vacuous, "",
		},
		"too early to tell": {historytest.Begin().Add(pool(), claim().Label("l", "w")), check.Vacuous, ""},
		"was there before": {historytest.Begin().Add(pool(), claim().Label("l", "w")).Start().After(later).
			Change(claim()), check.Vacuous, ""},
		"a gap": {story(pool(), claim()).Gap(karpenter.NodeClaims, "410"), check.Unknown, "gap"},
		"a change lost in a gap": {historytest.Begin().Add(pool()).Gap(karpenter.NodePools, "410").
			Add(claim().Label("l", "w")).After(later).Change(pool()), check.Unknown, "gap"},
	})
}
