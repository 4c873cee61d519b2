package chaos

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// inForce is longer than an admission policy needs to be, and retried longer than it
// takes until pods that got no node are tried again, 10 s.
const (
	inForce = 3 * time.Second
	retried = 12 * time.Second
)

// starting is the key of a startup taint, with which a spec holds nodes between
// joining and being initialized for as long as it likes.
const starting = fixtures.Domain + "/starting"

// startingNodes counts a pool's nodes that have joined and aren't initialized.
func startingNodes(pool *fixtures.Pool) check.Count {
	return check.ReadyNodes(pool).With("and starting", check.Tainted(starting))
}

// claims counts a pool's NodeClaims but those whose instance is being terminated, which Karpenter
// counts no longer: where that takes time, the next node is replaced meanwhile.
func claims(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, func(claim *unstructured.Unstructured) bool {
		return !karpenter.IsTrue(claim, karpenter.InstanceTerminating)
	}, "whose instance isn't being terminated")
}

// initialized counts a pool's nodes that are.
func initialized(pool *fixtures.Pool) check.Count {
	return check.Nodes(pool).With("that are initialized", check.Labeled(karpenter.InitializedLabel, "true"))
}

// staying counts the nodes that nobody has begun to delete.
func staying(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, func(node *unstructured.Unstructured) bool { return !karpenter.Deleting(node) }, "that stay")
}
