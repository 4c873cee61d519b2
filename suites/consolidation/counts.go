package consolidation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Where a node is to be too large for its pods, the pod that needs it runs there before the
// others come: of pods that come at once, those that a busy scheduler is late with get a node
// of their own. Specs in which Karpenter computes what could take a node's place have their
// pool consolidate from the start, and make a node such a one by deleting a pod: a pool that
// was just changed isn't ready for a moment, and if Karpenter happens to compute then, it
// looks again only when pods or nodes change, or after five minutes.

const (
	// port is one that pods want for themselves, so that they need a node each. Once
	// one of them is gone, its node has room for another.
	port = 7000
	// otherPort is a second one.
	otherPort = 7001
)

// spared claims that no node on which a workload's pods run is disrupted.
func spared(app *fixtures.Workload, pool *fixtures.Pool) check.Claim {
	return check.None(check.RunningPods(app).On(check.DisruptedNodes(pool)))
}

// succeeded is what the kubelet says of a pod whose work is done. Karpenter sees that
// for certain; a pod that is deleted may be gone before it has looked.
const succeeded = `{"status":{"phase":"Succeeded"}}`

// ended counts the pods of a workload whose work is done.
func ended(w *fixtures.Workload) check.Count {
	return check.PodsOf(w).With("that have succeeded", func(pod *unstructured.Unstructured) bool {
		return karpenter.PodPhase(pod) == corev1.PodSucceeded
	})
}
