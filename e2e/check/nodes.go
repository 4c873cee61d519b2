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

// NodesWith are the nodes of a pool for which match is true; words say which,
// as they read after "nodes of pool x".
func NodesWith(pool Named, match func(*unstructured.Unstructured) bool, words string) Count {
	return Nodes(pool).With(words, match)
}

// ReadyNodes are the nodes of a pool whose condition Ready is True.
func ReadyNodes(pool Named) Count {
	return NodesWith(pool, karpenter.NodeReady, "that are ready")
}

// DisruptedNodes are the nodes of a pool that Karpenter has taken out of use:
// tainted karpenter.sh/disrupted, or being deleted. This is what a disruption
// budget bounds, together with nodes that are not ready (Karpenter:
// designs/disruption-controls.md).
func DisruptedNodes(pool Named) Count {
	return NodesWith(pool, disrupted, "that are disrupted")
}

func disrupted(node *unstructured.Unstructured) bool {
	return karpenter.Deleting(node) || karpenter.HasTaint(node, karpenter.DisruptedTaint)
}

// ReplacedNodes are the ready nodes of a pool that have come since an earlier
// world: once there are as many as there were nodes, all have been replaced.
func ReplacedNodes(pool Named, since *history.World) Count {
	return ReadyNodes(pool).New(since)
}

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

// Tainted says whether a node has a taint with this key: for With.
func Tainted(key string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool { return karpenter.HasTaint(o, key) }
}

// Labeled says whether an object has this label with this value: for With.
func Labeled(key, value string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool {
		v, present := o.GetLabels()[key]
		return present && v == value
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
