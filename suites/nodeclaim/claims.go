package nodeclaim

import (
	"context"
	"time"

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

func needs() []providers.Capability {
	return []providers.Capability{providers.StandaloneNodeClaims}
}

// endInstance ends the instance of a node behind Karpenter's back.
func endInstance(ctx context.Context, env *e2e.Env, node *history.Object) {
	env.Hook(ctx, providers.TerminateInstance, providers.HookValues{
		NodeName: node.Name, ProviderID: karpenter.NodeProviderID(node.Unstructured()),
	})
}

// newNodes counts those that come from now on, whoever they belong to. That there
// is none means something while the NodeClaim is there.
func newNodes(env *e2e.Env, claim *fixtures.Claim) check.Count {
	all := check.Where("nodes", karpenter.Nodes, func(*unstructured.Unstructured) bool { return true })
	return all.New(env.World()).AmongObjects(claims(claim)).Named("nodes since NodeClaim " + claim.GetName())
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
