package upgrade

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// An upgrade, and the way back, keep NodeClaims that no pool made. They have no pool that would
// replace them, so that whoever created them loses the node for good. At the end one is deleted, to
// show that the new controller looks after them.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims; https://karpenter.sh/docs/upgrading/upgrade-guide.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps NodeClaims that no pool made",
	Needs:  []providers.Capability{providers.StandaloneNodeClaims},
	Within: 6 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		kept, ended := loneNodeClaim(), loneNodeClaim()
		all := check.Where("NodeClaims", karpenter.NodeClaims, func(*unstructured.Unstructured) bool { return true })
		env.Create(ctx, kept, ended)
		env.Await(ctx, 2, check.The(kept, ended).In(karpenter.Initialized))

		before := env.Mark()
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		env.Downgrade(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		env.Delete(ctx, ended)
		env.Await(ctx, 0, check.The(ended))

		env.Expect(upgraded,
			check.Always(check.Exactly(2, check.The(kept, ended).In(karpenter.Ready).Old(before))),
			check.Always(check.None(check.The(kept, ended).Deleting())),
			check.Always(check.Exactly(2, all)))
		env.Expect(env.Since(before), check.Finally(check.Exactly(1, check.The(kept).Staying())))
	},
})
