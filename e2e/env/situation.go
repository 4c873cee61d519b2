package env

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Limits of the situation in a failure, so that it fits on a screen.
const (
	situationObjects = 5 // of each kind
	situationEvents  = 8
	situationErrors  = 3
)

// situation describes what may have kept an awaited thing from coming.
func (e *Env) situation(ctx context.Context) string {
	if Interrupted(ctx) || e.place.Death() != nil {
		return "" // that is the reason
	}
	h := e.recorder.History()
	log := e.place.Provider.Unexpected(e.place.Provider.LogSince(ctx, h.Start().Time()))
	return situationOf(h, e.place.Namespace, log)
}

// situationOf lists a namespace's pods that don't run, the NodeClaims that aren't ready, the
// latest Events, and the controller's last errors.
func situationOf(h *history.History, namespace string, errors []string) string {
	w := h.End()
	pods := slices.DeleteFunc(w.List(karpenter.Pods), func(o *history.Object) bool {
		return o.Namespace != namespace || isWell(o.Unstructured())
	})
	claims := slices.DeleteFunc(w.List(karpenter.NodeClaims), func(o *history.Object) bool {
		return karpenter.IsTrue(o.Unstructured(), karpenter.Ready) && !karpenter.Deleting(o.Unstructured())
	})
	return section("pods that don't run", describeAll(pods)) +
		section("NodeClaims that aren't ready", describeAll(claims)) +
		section("latest events about pods that don't run, NodeClaims and NodePools", latestEvents(h, pods)) +
		section("the controller's last errors", lastErrors(errors))
}

// isWell reports whether a pod is ready or has succeeded, and is not being deleted.
func isWell(pod *unstructured.Unstructured) bool {
	return !karpenter.Deleting(pod) && (karpenter.PodReady(pod) || karpenter.PodPhase(pod) == corev1.PodSucceeded)
}

// describeAll describes objects, with the messages of their conditions that aren't True.
func describeAll(objects []*history.Object) []string {
	var lines []string
	for _, o := range objects[:min(len(objects), situationObjects)] {
		lines = append(lines, check.Describe(o))
		for _, c := range karpenter.Conditions(o.Unstructured()) {
			if c.Status != "True" && c.Message != "" {
				lines = append(lines, fmt.Sprintf("  %s: %s: %s", c.Type, c.Reason, install.Shorten(c.Message)))
			}
		}
	}
	if more := len(objects) - situationObjects; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// latestEvents returns the Kubernetes Events about these pods, and about all NodeClaims and
// NodePools, the latest last. Of Events with the same text it returns the latest.
func latestEvents(h *history.History, pods []*history.Object) []string {
	about := func(i karpenter.Involved) bool {
		return i.Kind == "NodeClaim" || i.Kind == "NodePool" || slices.ContainsFunc(pods, func(pod *history.Object) bool {
			return i.Kind == "Pod" && pod.Name == i.Name && pod.Namespace == i.Namespace
		})
	}
	told := sets.New[string]()
	var lines []string
	for _, e := range slices.Backward(h.Events()) {
		if e.Resource != karpenter.Events || len(lines) == situationEvents {
			continue
		}
		said := e.Object.Unstructured()
		on, reason, message := karpenter.EventInvolved(said), karpenter.EventReason(said), karpenter.EventMessage(said)
		if !about(on) || told.Has(reason+message) {
			continue
		}
		told.Insert(reason + message)
		before := h.Taken().Sub(e.Time).Round(100 * time.Millisecond)
		lines = append(lines, fmt.Sprintf("%s before: %s on %s %s: %s", before, reason, on.Kind, on.Name,
			install.Shorten(message)))
	}
	slices.Reverse(lines)
	return lines
}

// lastErrors returns the last lines of a log, one of each kind.
func lastErrors(log []string) []string {
	told := sets.New[string]()
	var lines []string
	for _, line := range slices.Backward(log) {
		if kind := install.LineMessage(line); len(lines) < situationErrors && !told.Has(kind) {
			told.Insert(kind)
			lines = append(lines, install.Shorten(line))
		}
	}
	slices.Reverse(lines)
	return lines
}

// section returns lines under a heading, or "" if there are none.
func section(heading string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("\n  %s:\n    %s", heading, strings.Join(lines, "\n    "))
}
