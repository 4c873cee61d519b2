package core

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kwok "sigs.k8s.io/karpenter/kwok/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// poolLies returns the lies about a pool's status.
func poolLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"finds-every-node-class":     finds(v1.ConditionTypeNodeClassReady),
		"finds-no-mistakes":          finds(v1.ConditionTypeValidationSucceeded),
		"finds-all-nodes-registered": finds(v1.ConditionTypeNodeRegistrationHealthy),
		"never-counts-down":          neverCountsDown(),
		"finds-node-classes-by-name": findsByName(),
	}
}

// findsByName returns a lie: a NodeClass is found by its name, whatever the group and kind that a
// pool refers to.
func findsByName() lie.Lie {
	return reads(func(pool *v1.NodePool) {
		own := schema.GroupKind{Group: kwok.Group, Kind: "KWOKNodeClass"}
		ref := pool.Spec.Template.Spec.NodeClassRef
		if ref.GroupKind() == own {
			return
		}
		ref.Group, ref.Kind = own.Group, own.Kind
		for _, condition := range []string{v1.ConditionTypeValidationSucceeded, v1.ConditionTypeNodeClassReady} {
			pool.StatusConditions().SetTrue(condition)
		}
	})
}

// finds returns a lie: a condition of every pool is true.
func finds(condition string) lie.Lie {
	return writesStatus(func(pool *v1.NodePool) { pool.StatusConditions().SetTrue(condition) })
}

// neverCountsDown returns a lie: a pool's status keeps its highest number of nodes.
func neverCountsDown() lie.Lie {
	var mu sync.Mutex
	most := map[types.UID]v1.NodePoolStatus{}
	return writesStatus(func(pool *v1.NodePool) {
		mu.Lock()
		defer mu.Unlock()
		was, nodes := most[pool.UID], pool.Status.Resources[resources.Node]
		if before := was.Resources[resources.Node]; before.Cmp(nodes) <= 0 {
			most[pool.UID] = *pool.Status.DeepCopy()
			return
		}
		pool.Status.Resources, pool.Status.Nodes = was.Resources, was.Nodes
	})
}
