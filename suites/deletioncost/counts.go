package deletioncost

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

const (
	// within is the time limit of a spec that waits for costs twice.
	within = 2*ranked + 4*time.Minute
	// ranked is when Karpenter has ranked the nodes as they are. It looks every minute, and only
	// if it knows of a change. Of some, such as drift, it knows after five minutes.
	ranked = karpenter.ConsolidationStateAge + karpenter.DeletionCostPoll + 15*time.Second

	// removed is when consolidation has removed an empty node.
	removed = karpenter.DisruptionPolled + karpenter.ConsolidationDecided + karpenter.InstanceEnded

	// lowest is the cost of pods on nodes that are being drained.
	lowest = "-2147483648"
	// dear is the greatest cost that a user can give a pod to disrupt.
	dear = "2147483647"
	port = 7000 // of pods that need nodes of their own
)

// quietPool returns a pool that is consolidated in principle, but not as long as a spec takes.
func quietPool() *fixtures.Pool { return fixtures.NodePool().ConsolidateAfter("24h") }

// costing counts the running pods of a workload that have a deletion cost.
func costing(app *fixtures.Workload) check.Count {
	return check.RunningPods(app).With("that have a deletion cost", func(pod *unstructured.Unstructured) bool {
		_, has := costOf(pod)
		return has
	})
}

// costingAt counts the running pods of a workload with this deletion cost.
func costingAt(cost string, app *fixtures.Workload) check.Count {
	return check.RunningPods(app).With("with the deletion cost "+cost, check.Annotated(corev1.PodDeletionCost, cost))
}

// lessThan claims that each pod of a workload has a lower deletion cost than each of another one.
func lessThan(dearer, cheaper *fixtures.Workload) check.Claim {
	words := fmt.Sprintf("the pods of %s cost less than those of %s", cheaper.GetName(), dearer.GetName())
	return check.That(words, func(w *history.World) (ok, exercised bool, standing string) {
		low, high := costing(cheaper).Of(w), costing(dearer).Of(w)
		for _, a := range low {
			for _, b := range high {
				if cost(a) >= cost(b) {
					return false, true, described(append(low, high...))
				}
			}
		}
		return true, len(low) > 0 && len(high) > 0, described(append(low, high...))
	}, karpenter.Pods)
}

// belowDefault matches pods that are deleted before those without a cost, whose cost is zero.
func belowDefault(pod *unstructured.Unstructured) bool {
	c, has := costOf(pod)
	return has && c < 0
}

func costOf(pod *unstructured.Unstructured) (cost int, has bool) {
	cost, err := strconv.Atoi(pod.GetAnnotations()[corev1.PodDeletionCost])
	return cost, err == nil
}

func cost(pod *history.Object) int {
	c, _ := costOf(pod.Unstructured())
	return c
}

func described(pods []*history.Object) string {
	lines := make([]string, 0, len(pods))
	for _, pod := range pods {
		lines = append(lines, fmt.Sprintf("%s, deletion cost %d", check.Describe(pod), cost(pod)))
	}
	return strings.Join(lines, "\n")
}
