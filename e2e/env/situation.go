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
	situationObjects = 3 // of each kind
	situationEvents  = 5
	situationErrors  = 3
)

// situation describes what may have kept an awaited thing from coming.
func (e *Env) situation(ctx context.Context) string {
	if Interrupted(ctx) || e.place.Death() != nil {
		return "" // that is the reason
	}
	h := e.recorder.History()
	log := e.place.Provider.Unexpected(e.place.Provider.LogSince(ctx, h.Start().Time()))
	return situationOf(h, e.isOfSpec, log)
}

// situationOf lists the spec's pods that don't run, the NodeClaims that aren't ready, the nodes
// that are of no use to pods, the latest Events, and the controller's last errors.
func situationOf(h *history.History, isOfSpec func(*history.Object) bool, errors []string) string {
	w := h.End()
	pods := slices.DeleteFunc(w.List(karpenter.Pods), func(o *history.Object) bool {
		return !isOfSpec(o) || isWell(o.Unstructured())
	})
	nodeClaims := w.List(karpenter.NodeClaims)
	unready := slices.DeleteFunc(slices.Clone(nodeClaims), func(o *history.Object) bool {
		return karpenter.IsTrue(o.Unstructured(), karpenter.Ready) && !karpenter.Deleting(o.Unstructured())
	})
	remark := func(node *history.Object) []string { return remarks(node.Unstructured(), nodeClaims) }
	nodes := slices.DeleteFunc(w.List(karpenter.Nodes), func(o *history.Object) bool {
		return !isKarpenters(o.Unstructured()) || isInService(o.Unstructured()) && remark(o) == nil
	})
	return section("pods that don't run", describeAll(pods, messages)) +
		section("NodeClaims that aren't ready", describeAll(unready, messages)) +
		section("nodes that aren't ready, registered and of a NodeClaim", describeAll(nodes, remark)) +
		section("latest events about pods that don't run, NodeClaims and NodePools", latestEvents(h, pods)) +
		section("the controller's last errors", lastErrors(errors))
}

// isKarpenters reports whether a node belongs to a pool or waits to be registered.
func isKarpenters(node *unstructured.Unstructured) bool {
	return karpenter.NodePoolOf(node) != "" || karpenter.HasTaint(node, karpenter.UnregisteredTaint)
}

// isInService reports whether a node is ready, registered and not being deleted.
func isInService(node *unstructured.Unstructured) bool {
	return karpenter.NodeReady(node) && !karpenter.HasTaint(node, karpenter.UnregisteredTaint) && !karpenter.Deleting(node)
}

// remarks says that no NodeClaim has a node's provider ID, and which one differs from it by
// letter case only. It returns nil if a NodeClaim has it.
func remarks(node *unstructured.Unstructured, nodeClaims []*history.Object) []string {
	id, similar := karpenter.NodeProviderID(node), ""
	for _, o := range nodeClaims {
		switch has := karpenter.NodeClaimProviderID(o.Unstructured()); {
		case has == id && id != "":
			return nil
		case strings.EqualFold(has, id) && id != "":
			similar = fmt.Sprintf("NodeClaim %s has %s: they differ by letter case only, and Karpenter compares them exactly",
				o.Name, has)
		}
	}
	switch {
	case id == "":
		return []string{"it has no provider ID (spec.providerID)"}
	case similar != "":
		return []string{"no NodeClaim has its provider ID; " + similar}
	default:
		return []string{"no NodeClaim has its provider ID"}
	}
}

// isWell reports whether a pod is ready or has succeeded, and is not being deleted.
func isWell(pod *unstructured.Unstructured) bool {
	return !karpenter.Deleting(pod) && (karpenter.PodReady(pod) || karpenter.PodPhase(pod) == corev1.PodSucceeded)
}

// describeAll describes objects, with further lines about each.
func describeAll(objects []*history.Object, further func(*history.Object) []string) []string {
	var lines []string
	for _, o := range objects[:min(len(objects), situationObjects)] {
		lines = append(lines, check.Describe(o))
		for _, line := range further(o) {
			lines = append(lines, "  "+line)
		}
	}
	if more := len(objects) - situationObjects; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// messages returns the messages of an object's conditions that aren't True, but not of those that
// nobody has looked at. Ready only sums up the others.
func messages(o *history.Object) []string {
	var lines []string
	told := sets.New[string]()
	for _, c := range karpenter.Conditions(o.Unstructured()) {
		if c.Status == "True" || c.Message == "" || c.Type == karpenter.Ready || c.Reason == karpenter.ReasonAwaiting ||
			told.Has(c.Message) {
			continue
		}
		told.Insert(c.Message)
		lines = append(lines, fmt.Sprintf("%s: %s: %s", c.Type, c.Reason, install.Shorten(c.Message)))
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
