package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Nodes are the nodes of a pool (label karpenter.sh/nodepool), of any pool if
// pool is nil. That there are none is put to the test while the pool exists.
func Nodes(pool Named) Count { return ofPool("nodes", karpenter.Nodes, pool) }

// ReadyNodes are the nodes of a pool whose condition Ready is True.
func ReadyNodes(pool Named) Count { return Nodes(pool).With("that are ready", karpenter.NodeReady) }

// RegisteredNodes are the nodes of a pool that Karpenter has matched to their NodeClaims: they
// have their labels and taints.
func RegisteredNodes(pool Named) Count {
	return Nodes(pool).With("that are registered", Labeled(karpenter.RegisteredLabel, "true"))
}

// InitializedNodes are the nodes of a pool that Karpenter has found to be ready for work.
func InitializedNodes(pool Named) Count {
	return Nodes(pool).With("that are initialized", Labeled(karpenter.InitializedLabel, "true"))
}

// StartingNodes are the ready nodes of a pool that have a startup taint. While it stays they
// aren't initialized, so that a spec holds them between joining and that for as long as
// it likes.
func StartingNodes(pool Named, taint string) Count {
	return ReadyNodes(pool).With("that are starting", Tainted(taint))
}

// DisruptedNodes are the nodes of a pool that Karpenter has taken out of use:
// tainted karpenter.sh/disrupted, or being deleted. This is what a disruption
// budget bounds, together with nodes that are not ready (Karpenter:
// designs/disruption-controls.md).
func DisruptedNodes(pool Named) Count {
	return Nodes(pool).With("that are disrupted", disrupted)
}

func disrupted(node *unstructured.Unstructured) bool {
	return karpenter.Deleting(node) || karpenter.HasTaint(node, karpenter.DisruptedTaint)
}

// ReplacedNodes are the ready nodes of a pool that have come since a mark: once there are as
// many as there were nodes, all have been replaced.
func ReplacedNodes(pool Named, since history.Mark) Count { return ReadyNodes(pool).New(since) }

// Node is the node with this name, if there is one.
func Node(name string) Count {
	return Count{
		Name:  "nodes called " + name,
		Reads: []schema.GroupVersionResource{karpenter.Nodes},
		Of: func(w *history.World) []*history.Object {
			if node := w.Get(karpenter.Nodes, "", name); node != nil {
				return []*history.Object{node}
			}
			return nil
		},
	}
}

// ofPool is the objects of a resource that belong to a pool. That there is
// none means something once there is a pool.
func ofPool(what string, r schema.GroupVersionResource, pool Named) Count {
	if pool == nil {
		c := Where(what+" of any pool", r, func(o *unstructured.Unstructured) bool { return karpenter.NodePoolOf(o) != "" })
		c.Among = func(w *history.World) []*history.Object { return w.List(karpenter.NodePools) }
		c.Reads = append(c.Reads, karpenter.NodePools)
		return c
	}
	name := pool.GetName()
	c := Where(fmt.Sprintf("%s of pool %s", what, name), r, func(o *unstructured.Unstructured) bool { return karpenter.NodePoolOf(o) == name })
	c.Among = func(w *history.World) []*history.Object {
		if o := w.Get(karpenter.NodePools, "", name); o != nil {
			return []*history.Object{o}
		}
		return nil
	}
	c.Reads = append(c.Reads, karpenter.NodePools)
	return c
}
