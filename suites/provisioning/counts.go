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

// labeledNodes counts a pool's nodes with a label.
func labeledNodes(pool *fixtures.Pool, key, value string) check.Count {
	return check.Nodes(pool).With(fmt.Sprintf("with the label %s=%s", key, value), check.Labeled(key, value))
}

// passedOver checks that a pool launches nothing while pods of a workload exist. Without pods
// the check is meaningless.
func passedOver(pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.None(check.NodeClaims(pool).AmongObjects(check.PodsOf(app))))
}

// passedOverSince checks that a pool launches nothing more while pods of a workload exist, as passedOver does.
func passedOverSince(before history.Mark, pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.None(check.NodeClaims(pool).New(before).AmongObjects(check.PodsOf(app))))
}

// noFitEvents counts Karpenter's events that no node fits a pod of a workload. The scheduler's
// events with the same reason don't count.
func noFitEvents(app *fixtures.Workload) check.Count {
	return check.Reports(karpenter.ReasonFailedScheduling, app)
}

// neverNominated checks that Karpenter never means pods of a workload for a node.
func neverNominated(app *fixtures.Workload, node *history.Object) check.Check {
	wrong := check.Reports(karpenter.ReasonNominated, app).With("for node "+node.Name, check.Mentioning(node.Name))
	return check.Always(check.None(wrong.AmongObjects(check.PodsOf(app))))
}

// decisions counts the signs that Karpenter has looked at a workload's pods: events that no node
// fits them, and new NodeClaims of a pool.
func decisions(app *fixtures.Workload, pool *fixtures.Pool, since history.Mark) check.Count {
	no, yes := noFitEvents(app), check.NodeClaims(pool).New(since)
	return check.Count{
		Name:  fmt.Sprintf("%s, or %s", no, yes),
		Of:    func(w *history.World) []*history.Object { return append(no.Of(w), yes.Of(w)...) },
		Reads: append(no.Reads, yes.Reads...),
	}
}

// requestsBetween claims that NodeClaims' requests for a resource are at least least and below under.
// The cluster's own daemons add to what the pods need.
func requestsBetween(nodeClaims check.Count, name corev1.ResourceName, least, under string) check.Claim {
	words := fmt.Sprintf("ask for %s of %s, and for less than %s", least, name, under)
	return check.Each(nodeClaims, words, func(nodeClaim *unstructured.Unstructured) bool {
		asked := karpenter.NodeClaimRequests(nodeClaim, name)
		return asked.Cmp(resource.MustParse(least)) >= 0 && asked.Cmp(resource.MustParse(under)) < 0
	})
}
