package check

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Nodes returns the nodes of a pool (label karpenter.sh/nodepool); of any pool, if pool is
// nil. "There are none" is exercised while the pool exists.
func Nodes(pool Named) Count { return ofPool("nodes", karpenter.Nodes, pool) }

// JoinedNodes returns the nodes of a pool, and those without its label that the provider IDs of
// its NodeClaims name: some providers leave it to Karpenter to label a node when it is registered.
func JoinedNodes(pool Named) Count {
	labeled, nodeClaims := Nodes(pool), NodeClaims(pool)
	return Count{
		Name: "nodes of pool " + pool.GetName() + " that have joined", Among: labeled.Among,
		Reads: readsBoth(labeled.Reads, nodeClaims.Reads),
		Of: func(w *history.World) []*history.Object {
			launched := map[string]bool{}
			for _, o := range nodeClaims.Of(w) {
				launched[karpenter.NodeClaimProviderID(o.Unstructured())] = true
			}
			delete(launched, "")
			return slices.DeleteFunc(w.List(karpenter.Nodes), func(o *history.Object) bool {
				node := o.Unstructured()
				return karpenter.NodePoolOf(node) != pool.GetName() && !launched[karpenter.NodeProviderID(node)]
			})
		},
	}
}

// ReadyNodes returns the nodes of a pool whose condition Ready is True.
func ReadyNodes(pool Named) Count { return Nodes(pool).With("that are ready", karpenter.NodeReady) }

// RegisteredNodes returns the nodes of a pool that Karpenter has matched to their NodeClaims.
// They have their labels and taints.
func RegisteredNodes(pool Named) Count {
	return Nodes(pool).With("that are registered", Labeled(karpenter.RegisteredLabel, "true"))
}

// InitializedNodes returns the nodes of a pool that Karpenter has found ready for work.
func InitializedNodes(pool Named) Count {
	return Nodes(pool).With("that are initialized", Labeled(karpenter.InitializedLabel, "true"))
}

// StartingNodes returns the ready nodes of a pool that have a startup taint. The taint keeps
// them from being initialized, so a spec can hold them in this state.
func StartingNodes(pool Named, taint string) Count {
	return ReadyNodes(pool).With("that are starting", Tainted(taint))
}

// DisruptedNodes returns the nodes of a pool that are tainted karpenter.sh/disrupted or being
// deleted.
func DisruptedNodes(pool Named) Count {
	return Nodes(pool).With("that are disrupted", disrupted)
}

func disrupted(node *unstructured.Unstructured) bool {
	return karpenter.Deleting(node) || karpenter.HasTaint(node, karpenter.DisruptedTaint)
}

// BudgetedNodes returns the nodes of a pool that count against its disruption budgets: the disrupted ones, but
// for those that are drained and whose instance is being ended. Their Node objects may stay for a while.
// Nodes that are not ready count too, and are not among these.
//
// Source: designs/disruption-controls.md of Karpenter; condition InstanceTerminating of the NodeClaim API,
// since v1.0.
func BudgetedNodes(pool Named) Count {
	count, ending := DisruptedNodes(pool), NodeClaims(pool).In(karpenter.InstanceTerminating)
	all := count.Of
	count.Reads = readsBoth(count.Reads, ending.Reads)
	count.Of = func(w *history.World) []*history.Object {
		nodeClaims := ending.Of(w)
		return slices.DeleteFunc(all(w), func(node *history.Object) bool {
			return slices.ContainsFunc(nodeClaims, func(nodeClaim *history.Object) bool {
				return karpenter.NodeClaimNode(nodeClaim.Unstructured()) == node.Name
			})
		})
	}
	return count
}

// ReplacedNodes returns the ready nodes of a pool that came after a mark. When there are as
// many as there were nodes, all have been replaced.
func ReplacedNodes(pool Named, since history.Mark) Count { return ReadyNodes(pool).New(since) }

// Node returns the node with this name, if it exists.
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

// ofPool returns the objects of a resource that belong to a pool, with the pool as candidate.
func ofPool(what string, r schema.GroupVersionResource, pool Named) Count {
	if pool == nil {
		c := Where(what+" of any pool", r, func(o *unstructured.Unstructured) bool { return karpenter.NodePoolOf(o) != "" })
		c.Among = func(w *history.World) []*history.Object { return w.List(karpenter.NodePools) }
		c.Reads = append(c.Reads, karpenter.NodePools)
		return c
	}
	name := pool.GetName()
	c := Where(fmt.Sprintf("%s of pool %s", what, name), r, func(o *unstructured.Unstructured) bool {
		return karpenter.NodePoolOf(o) == name
	})
	c.Among = func(w *history.World) []*history.Object {
		if o := w.Get(karpenter.NodePools, "", name); o != nil {
			return []*history.Object{o}
		}
		return nil
	}
	c.Reads = append(c.Reads, karpenter.NodePools)
	return c
}
