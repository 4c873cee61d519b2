package cloud

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

const (
	// settled is longer than it takes until pods that got no node are tried again, 10 s.
	settled = 15 * time.Second
	// compared is longer than the two minutes after which Karpenter compares NodeClaims with
	// the cloud's instances again (pkg/controllers/nodeclaim/garbagecollection).
	compared = 150 * time.Second
)

// strain is a way in which a cloud is slow or late, but not wrong.
type strain struct {
	how   string
	hook  providers.HookName
	about providers.HookValues
}

func strains() []strain {
	return []strain{
		{"that throttles calls", providers.Throttle, providers.HookValues{Count: 20}},
		{"that answers slowly", providers.SlowDown, providers.HookValues{}},
		{"whose lists are out of date", providers.StaleLists, providers.HookValues{}},
	}
}

// about names a node, its instance and its zone to a hook.
func about(node *history.Object) providers.HookValues {
	u := node.Unstructured()
	return providers.HookValues{
		NodeName: node.Name, ProviderID: karpenter.NodeProviderID(u), Zone: karpenter.Label(u, corev1.LabelTopologyZone),
	}
}

// running creates a pool and a workload, and waits until its pods run on nodes that have
// started, one for each.
func running(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, app *fixtures.Workload, nodes int) []*history.Object {
	env.Create(ctx, pool, app)
	env.Await(ctx, nodes, check.RunningPods(app))
	return env.Await(ctx, nodes, check.ReadyNodes(pool).With("and initialized", check.Labeled(karpenter.InitializedLabel, "true")))
}

// refused counts the launches that failed for want of capacity: each is of a NodeClaim that
// is given up.
func refused(since *history.World) check.Count {
	return check.Reports(karpenter.ReasonInsufficientCapacity, nil).New(since)
}

// asked counts the NodeClaims of a pool that nobody has begun to delete: what is asked for, or
// there.
func asked(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, func(claim *unstructured.Unstructured) bool { return !karpenter.Deleting(claim) }, "that stay")
}

// givenUp counts the NodeClaims of a pool whose deletion was asked for.
func givenUp(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, karpenter.Deleting, "that are given up")
}

// leaving counts the pods of a workload that were told to end and are still there.
func leaving(app *fixtures.Workload) check.Count {
	return check.PodsOf(app).With("that were told to end", karpenter.Deleting)
}

// of counts the objects of this name.
func of(c check.Count, name string) check.Count {
	return c.With("called "+name, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
}
