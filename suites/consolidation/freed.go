package consolidation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node soon after what kept it is gone: a user takes the protection of its pod
// or of itself back, or a budget, or a job ends that took the room elsewhere. These are what people
// wait for who want a node to go. Karpenter has looked at other nodes meanwhile and found nothing to
// do. Nothing else changes on a calm cluster.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation" and "Pod-Level Controls";
// Karpenter: pkg/controllers/state/cluster.go, MarkUnconsolidated.
var _ = e2e.Table(Suite, map[string]hold{
	"ended": {
		"a pod has ended that took the room elsewhere",
		func(context.Context, *e2e.Env, held) {},
		func(ctx context.Context, env *e2e.Env, h held) { env.EndPod(ctx, h.first) },
		func(h held) check.Count { return check.RunningPods(h.taking) },
	},
	"pod": {
		"its pod is not protected any more",
		func(ctx context.Context, env *e2e.Env, h held) { protect(ctx, env, h, h.pod) },
		func(ctx context.Context, env *e2e.Env, h held) {
			env.RemoveAnnotation(ctx, h.pod, karpenter.DoNotDisruptAnnotation)
		},
		func(h held) check.Count { return protected(h.pod) },
	},
	"node": {
		"it is not protected any more",
		func(ctx context.Context, env *e2e.Env, h held) { protect(ctx, env, h, h.node) },
		func(ctx context.Context, env *e2e.Env, h held) {
			env.RemoveAnnotation(ctx, h.node, karpenter.DoNotDisruptAnnotation)
		},
		func(h held) check.Count { return protected(h.node) },
	},
	"budget": {
		"the PodDisruptionBudget of its pod is gone",
		func(ctx context.Context, env *e2e.Env, h held) {
			env.Create(ctx, h.budget)
			env.Delete(ctx, h.first)
		},
		func(ctx context.Context, env *e2e.Env, h held) { env.Delete(ctx, h.budget) },
		func(h held) check.Count { return check.The(h.budget) },
	},
}, func(row hold) e2e.Spec {
	return e2e.Spec{
		Name:   "removes a node soon after " + row.over,
		Within: 4 * time.Minute,
		Known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
			Issue:    e2e.Finding("karpenter-changes-that-consolidation-misses"),
			Reason:   "what lets the node go is no reason to look again, for up to five minutes",
			Breaks:   []string{"^after .*, its node goes"},
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			other := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
			pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
			first, last := launchForPort(ctx, env, other, pool)
			h := held{taking: first, budget: last.MaxUnavailable(0)}
			h.first = env.Await(ctx, 1, check.RunningPods(first))[0]
			h.pod = env.Await(ctx, 1, check.RunningPods(last))[0]
			h.node = env.Await(ctx, 1, check.Nodes(pool))[0]
			env.Observe(ctx, karpenter.NominationOver)
			row.begins(ctx, env, h)
			env.Observe(ctx, karpenter.DisruptionPolled)

			before := env.Mark()
			row.ends(ctx, env, h)
			const decided = karpenter.DisruptionPolled + karpenter.ConsolidationDecided
			env.Observe(ctx, decided+karpenter.Settled)

			goes := func(*unstructured.Unstructured) check.Claim { return check.None(check.Nodes(pool).Staying()) }
			env.Expect(env.Since(before), check.Within(decided,
				check.After(check.Leaves(row.by(h)), "its node goes", goes, karpenter.Nodes)))
		},
	}
})

// hold is what keeps a node, until it ends.
type hold struct {
	over         string // what is so when it has ended
	begins, ends func(context.Context, *e2e.Env, held)
	by           func(held) check.Count // what there is until then
}

// held is a node that stays for a while, its pod, a budget for that, and a pod that takes the room elsewhere.
type held struct {
	node, pod, first *history.Object
	taking           *fixtures.Workload // makes first
	budget           fixtures.Object
}

// protect protects an object from disruption, and makes room elsewhere.
func protect(ctx context.Context, env *e2e.Env, h held, o *history.Object) {
	env.Annotate(ctx, o, karpenter.DoNotDisruptAnnotation, "true")
	env.Delete(ctx, h.first)
}

// protected counts an object while it is protected.
func protected(o *history.Object) check.Count {
	return check.The(o).With("that is protected", check.Annotated(karpenter.DoNotDisruptAnnotation, "true"))
}
