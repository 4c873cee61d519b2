package provisioning

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// waiting counts the pods of a workload that the scheduler has found no node for.
// Karpenter looks at no others, and a busy scheduler may take longer from one pod to the
// next than a batch stays open: specs about what one batch gets have all of its pods wait
// for the pool.
func waiting(app *fixtures.Workload) check.Count {
	return check.PodsOf(app).With("that no node fits", func(pod *unstructured.Unstructured) bool {
		scheduled, _ := karpenter.Condition(pod, string(corev1.PodScheduled))
		return scheduled.Reason == corev1.PodReasonUnschedulable
	})
}

// labelled counts a pool's nodes with a label.
func labelled(pool *fixtures.Pool, key, value string) check.Count {
	return check.Nodes(pool).With(fmt.Sprintf("with the label %s=%s", key, value), check.Labeled(key, value))
}

// passedOver checks that a pool launches nothing while there are pods of a
// workload: without them that would mean nothing.
func passedOver(pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.None(check.NodeClaims(pool).AmongObjects(check.PodsOf(app))))
}

// refusals counts Karpenter's events which say that no node fits a pod of a
// workload. The scheduler's own events of the same reason don't count.
func refusals(app *fixtures.Workload) check.Count {
	return check.Reports(karpenter.ReasonFailedScheduling, app)
}

// answers counts what shows that the pods of a workload have been looked at: that
// no node fits them, or NodeClaims that a pool has got since.
func answers(app *fixtures.Workload, pool *fixtures.Pool, since history.Mark) check.Count {
	no, yes := refusals(app), check.NodeClaims(pool).New(since)
	return check.Count{
		Name:  fmt.Sprintf("%s, or %s", no, yes),
		Of:    func(w *history.World) []*history.Object { return append(no.Of(w), yes.Of(w)...) },
		Reads: append(no.Reads, yes.Reads...),
	}
}

// asking claims that NodeClaims ask for what their pods need of a resource, and for less than
// under: daemons of the cluster's own need something on top.
func asking(nodeClaims check.Count, name corev1.ResourceName, least, under string) check.Claim {
	words := fmt.Sprintf("ask for %s of %s, and for less than %s", least, name, under)
	return check.Each(nodeClaims, words, func(nodeClaim *unstructured.Unstructured) bool {
		asked := karpenter.NodeClaimRequests(nodeClaim, name)
		return asked.Cmp(resource.MustParse(least)) >= 0 && asked.Cmp(resource.MustParse(under)) < 0
	})
}
