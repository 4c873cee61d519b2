package consolidation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
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

// instanceType is the label that names a node's type.
const instanceType = corev1.LabelInstanceTypeStable

// typeOf returns the name of a node's type.
func typeOf(node *history.Object) string { return karpenter.Label(node.Unstructured(), instanceType) }

// smaller says whether a node has less CPU for pods than another.
func smaller(node, than *unstructured.Unstructured) bool {
	mine, other := karpenter.Allocatable(node, corev1.ResourceCPU), karpenter.Allocatable(than, corev1.ResourceCPU)
	return mine.Cmp(other) < 0
}

// spared claims that no node on which a workload's pods run is disrupted.
func spared(app *fixtures.Workload, pool *fixtures.Pool) check.Claim {
	return check.None(check.RunningPods(app).On(check.DisruptedNodes(pool)))
}

// leftAlone claims of a NodeClaim that it became consolidatable no earlier than
// some time after its last pod had come or gone, by its own status. Times there
// are whole seconds.
func leftAlone(d time.Duration) func(*unstructured.Unstructured) check.Claim {
	return func(claim *unstructured.Unstructured) check.Claim {
		words := fmt.Sprintf("it has had its last pod event, and that is %s ago", d)
		return check.That(words, func(*history.World) (ok, exercised bool, standing string) {
			last := lastPodEvent(claim)
			since, _ := karpenter.Condition(claim, karpenter.Consolidatable)
			standing = fmt.Sprintf("lastPodEventTime %s, consolidatable since %s", last, since.LastTransitionTime.UTC())
			return !last.IsZero() && since.LastTransitionTime.Sub(last) >= d, true, standing
		}, karpenter.NodeClaims)
	}
}

// lastPodEvent is when a pod last came to the node of a NodeClaim or left it, by the
// NodeClaim's status, in UTC; zero if it doesn't say.
func lastPodEvent(claim *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(claim.Object, "status", "lastPodEventTime")
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// tells claims that the NodeClaim of a pool tells of a pod that came or went since it
// was as it was then; nil is before there was any.
func tells(pool *fixtures.Pool, then *history.Object) check.Claim {
	var last time.Time
	if then != nil {
		last = lastPodEvent(then.Unstructured())
	}
	return check.AtLeast(1, check.NodeClaims(pool).With(fmt.Sprintf("that tell of a pod after %s", last.Format(time.TimeOnly)), func(claim *unstructured.Unstructured) bool {
		return lastPodEvent(claim).After(last)
	}))
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
