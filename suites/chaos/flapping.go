package chaos

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps nodes that become not ready and recover. It does not terminate or
// replace them. A network or disk that fails for a minute must not cost users their
// nodes. Here a new pod shows that Karpenter is at work. It gets its own node, because
// it keeps away from the pods of the others, whenever these recover.
//
// Source: designs/node-repair.md: nodes that are not ready are replaced only with
// the feature NodeRepair, and after its toleration.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps its nodes while kubelets flap",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		late := fixtures.Deployment(1).On(pool).PodAntiAffinity(app, corev1.LabelHostname)
		nodes := env.Launch(ctx, 2, pool, app)

		before := env.Mark()
		unready := check.Nodes(pool).Old(before).With("that are not ready", check.Tainted(corev1.TaintNodeNotReady))
		env.PauseKubelets(ctx)
		env.PatchStatus(ctx, nodes[0], fixtures.NotReady(time.Now()))
		env.PatchStatus(ctx, nodes[1], fixtures.NotReady(time.Now()))
		env.Await(ctx, 2, unready)
		env.Create(ctx, late)
		env.Await(ctx, 1, check.Nodes(pool).New(before))
		env.ResumeKubelets(ctx)
		env.Await(ctx, 1, check.RunningPods(late))
		env.Await(ctx, 0, unready)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(3, check.NodeClaims(pool))),
			check.Always(check.None(check.DisruptedNodes(pool))),
			check.LeadsTo(check.AtLeast(2, unready), check.AtLeast(2, check.ReadyNodes(pool).Old(before))))
	},
})
