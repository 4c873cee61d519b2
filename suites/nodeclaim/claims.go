package nodeclaim

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// settled is how long a node is watched that must stay as it is, or a launch
// that must not be.
const settled = 5 * time.Second

// needs is what these specs need: NodePools too, since only through one a spec
// learns which types of instances there are.
func needs() []providers.Capability {
	return []providers.Capability{providers.StandaloneNodeClaims, providers.NodePools}
}

// A model is what a provider launches for a pod: whoever makes NodeClaims says
// which type of instance they want, and a spec knows none by name.
type model struct {
	pool   *fixtures.Pool
	app    *fixtures.Workload
	claim  *unstructured.Unstructured
	before *history.World // the world when all this stood
}

// launched lets a NodePool launch a node for a workload of one pod.
func launched(ctx context.Context, env *e2e.Env, app *fixtures.Workload) model {
	pool := fixtures.NodePool()
	env.Create(ctx, pool, app.On(pool))
	claim := env.Await(ctx, 1, check.ClaimsWith(pool, check.True(karpenter.Initialized), "that are initialized"))[0]
	return model{pool, app, claim.Unstructured(), env.World()}
}

// order builds a NodeClaim without a NodePool for the model's type of instance.
func (m model) order() *fixtures.Claim {
	return fixtures.NodeClaim().
		Require(corev1.LabelInstanceTypeStable, fixtures.In, karpenter.Label(m.claim, corev1.LabelInstanceTypeStable))
}

// nodes counts those that have come since the model, whoever they belong to. That
// there is none means something while the NodeClaim is there.
func (m model) nodes(claim *fixtures.Claim) check.Count {
	all := check.Where("nodes", karpenter.Nodes, func(*unstructured.Unstructured) bool { return true })
	return all.New(m.before).AmongObjects(claims(claim)).Named("nodes since NodeClaim " + claim.GetName())
}

// claims counts the NodeClaim itself, if it is there.
func claims(claim *fixtures.Claim) check.Count {
	c := check.Where("NodeClaims called "+claim.GetName(), karpenter.NodeClaims, func(o *unstructured.Unstructured) bool {
		return o.GetName() == claim.GetName()
	})
	return c.AmongObjects(c)
}

// in counts the NodeClaim if it has this condition with status True.
func in(claim *fixtures.Claim, condition string) check.Count {
	return claims(claim).With("that are "+condition, check.True(condition))
}

// deleting counts those of the counted objects whose deletion was asked for.
func deleting(c check.Count) check.Count {
	return c.With("that are being deleted", karpenter.Deleting)
}
