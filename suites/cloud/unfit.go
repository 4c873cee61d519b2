package cloud

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The conditions of a NodeClass are about what it selects now, also if that are images for none of
// the instance types that its pools allow. Somebody has chosen those of another architecture, and
// looks there for the reason why no nodes come. Once the images fit again, nodes are launched.
//
// Source: Kubernetes' API conventions, observedGeneration; condition NodeClassReady of the NodePool
// API: a condition of an older generation counts as unknown.
var _ = Suite.Add(e2e.Spec{
	Name:   "says of a NodeClass what it is like, though its images fit no type, and then serves pods",
	Needs:  []providers.Capability{providers.NodePools, providers.NodeClassStatus},
	Hooks:  []providers.HookName{providers.UnfitImages, providers.ReadyNodeClass},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, class := fixtures.NodePool(), env.NodeClass(ctx)
		app := fixtures.Deployment(1).On(pool)
		outdated := check.The(class).With("with conditions of an earlier generation", outdated)
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.The(pool).In(karpenter.Ready))

		before := env.Mark()
		env.Hook(ctx, providers.UnfitImages)
		env.Create(ctx, app)
		env.Observe(ctx, time.Minute)
		unfit := env.Since(before)
		env.Hook(ctx, providers.ReadyNodeClass)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(unfit,
			check.Within(30*time.Second, check.LeadsTo(check.AtLeast(1, outdated), check.None(outdated))),
			check.Always(check.None(check.Nodes(pool))))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.PodsOf(app)), check.Exactly(1, check.RunningPods(app))))
	},
})

// outdated tells whether an object's condition Ready is about an earlier generation.
func outdated(o *unstructured.Unstructured) bool {
	ready, found := karpenter.Condition(o, karpenter.Ready)
	return found && ready.ObservedGeneration != o.GetGeneration()
}
