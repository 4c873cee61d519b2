package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter never deletes a pod by force: not even at the deadline does its grace period
// become zero. A pod without a grace period is gone for Kubernetes at once, while its
// containers run on. A StatefulSet would then start the same pod a second time, and both
// write to one volume.
//
// Source: https://kubernetes.io/docs/tasks/run-application/force-delete-stateful-set-pod;
// https://github.com/kubernetes-sigs/karpenter/pull/3038.
var _ = Suite.Add(e2e.Spec{
	Name: "leaves a pod a second to end even when the deadline has passed",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.12.1", // seen in v1.12.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/3038",
		Reason:   "a pod's grace period becomes zero when the deadline has passed",
		Breaks:   []string{"^always no pods of pod-"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("1s")
		app := fixtures.Pod().On(pool).GracePeriod(60).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.PauseKubelets(ctx) // they would end the pod at once
		deleteNodeClaim(ctx, env, pool)
		pod := env.Await(ctx, 1, check.PodsOf(app).Deleting())[0]
		env.Observe(ctx, karpenter.DrainPolled)
		told := env.Since(before)
		env.ResumeKubelets(ctx)
		env.RemoveFinalizers(ctx, pod)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(told,
			check.While(check.PodsOf(app).Deleting(), check.None(check.PodsOf(app).With("that were killed", endsWithin(0)))))
	},
})
