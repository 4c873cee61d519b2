package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// ofNodeClaim tells what an event means for a NodeClaim and its node.
func (t *teller) ofNodeClaim(m moment) {
	switch m.Resource {
	case karpenter.NodePools:
		if m.Object.Name == t.pool && m.Type == watch.Modified && m.was != nil &&
			m.was.GetGeneration() != m.is.GetGeneration() {
			t.poolChanged = &m
		}
	case karpenter.NodeClaims:
		if m.Object.Name == t.nodeClaim {
			t.nodeClaimMoment(m)
		} else {
			t.replacement(m)
		}
	case karpenter.Nodes:
		if m.Object.Name == t.node {
			t.nodeMoment(m)
		}
	case karpenter.Pods:
		t.podMoment(m)
	case karpenter.Events:
		about := karpenter.EventInvolved(m.is)
		if about.Kind == "NodeClaim" && about.Name == t.nodeClaim || about.Kind == "Node" && about.Name == t.node {
			t.heard(m)
		}
	}
	t.holds(m)
}

// holds tells which pods of a node that is drained PodDisruptionBudgets begin to hold.
func (t *teller) holds(m moment) {
	was := t.held
	t.held = map[string]bool{}
	if !t.draining {
		return
	}
	for _, pod := range t.world.List(karpenter.Pods) {
		if t.node == "" || karpenter.PodNode(pod.Unstructured()) != t.node {
			continue
		}
		if why := check.HeldBy(t.world, pod); why != "" {
			words := fmt.Sprintf("Pod %s is held: %s.", pod.Name, why)
			t.held[words] = true
			if !was[words] {
				t.say(m, "%s", words)
			}
		}
	}
}

func (t *teller) nodeClaimMoment(m moment) {
	switch {
	case m.Type == watch.Added:
		t.born(m)
	case m.Type == watch.Deleted:
		t.say(m, "The NodeClaim is gone.")
		return
	}
	for _, stage := range []struct{ condition, word string }{
		{karpenter.Launched, "launched"}, {karpenter.Registered, "registered"}, {karpenter.Initialized, "initialized"},
	} {
		if m.became(stage.condition) {
			at := t.h.Offset(m.Time)
			as := ""
			if stage.condition == karpenter.Launched {
				as = fmt.Sprintf(" as %s in %s, %s", karpenter.InstanceType(m.is), karpenter.Label(m.is, corev1.LabelTopologyZone),
					karpenter.Label(m.is, karpenter.CapacityTypeLabel))
			}
			t.say(m, "It is %s%s, after %s.", stage.word, as, (at - t.stageSince).Round(1e7))
			t.stageSince = at
		}
	}
	t.waits(m)
	t.mayGo(m)
	t.goes(m)
}

// born tells who asked for a NodeClaim, and for what.
func (t *teller) born(m moment) {
	t.stageSince = t.h.Offset(m.Time)
	pods, all := []string{}, 0
	for _, e := range t.h.Events() {
		u := e.Object.Unstructured()
		if e.Resource == karpenter.Events && karpenter.EventReason(u) == karpenter.ReasonNominated &&
			mentions(karpenter.EventMessage(u), "nodeclaim/"+t.nodeClaim) {
			if about := karpenter.EventInvolved(u); !slices.Contains(pods, about.Name) {
				all++
				if len(pods) < 5 {
					pods = append(pods, about.Name)
				}
			}
		}
	}
	requests := ""
	if cpu := karpenter.NodeClaimRequests(m.is, corev1.ResourceCPU); !cpu.IsZero() {
		requests = fmt.Sprintf(", with room for %s CPUs", cpu.String())
	}
	t.say(m, "NodeClaim %s is asked for, of pool %s%s.", t.nodeClaim, cmp.Or(t.pool, "(none)"), requests)
	replicas, static, _ := unstructured.NestedInt64(t.poolNow(), "spec", "replicas")
	switch {
	case all > 0:
		t.unknown("It is meant for %s: %s.", check.Words(all, "pods"), strings.Join(pods, ", "))
	case static:
		t.unknown("No pod is meant for it: its pool wants %s.", check.Words(int(replicas), "replicas"))
	default:
		t.unknown("For which pods, no Event says.")
	}
}

// mentions reports whether a message has a word, such as nodeclaim/a.
func mentions(message, word string) bool {
	return slices.Contains(strings.FieldsFunc(message, func(r rune) bool { return r == ' ' || r == ',' }), word)
}

// poolNow returns the NodeClaim's pool at this moment; empty if there is none.
func (t *teller) poolNow() map[string]any {
	if pool := t.world.Get(karpenter.NodePools, "", t.pool); pool != nil {
		return pool.Unstructured().Object
	}
	return map[string]any{}
}

// waits tells why a NodeClaim isn't initialized.
func (t *teller) waits(m moment) {
	is, _ := karpenter.Condition(m.is, karpenter.Initialized)
	if is.Status == "True" || is.Reason == "" || is.Reason == karpenter.ReasonAwaiting {
		return
	}
	if m.was != nil {
		if was, _ := karpenter.Condition(m.was, karpenter.Initialized); was.Reason == is.Reason && was.Message == is.Message {
			return
		}
	}
	t.say(m, "It isn't initialized: %s (%s).", is.Reason, is.Message)
}

// mayGo tells since when a NodeClaim may be disrupted, and why.
func (t *teller) mayGo(m moment) {
	switch {
	case m.became(karpenter.Consolidatable):
		t.say(m, "It may be consolidated from now on.")
	case m.ended(karpenter.Consolidatable):
		t.say(m, "It may not be consolidated any more, or not yet again.")
	}
	switch {
	case m.became(karpenter.Drifted):
		why, _ := karpenter.Condition(m.is, karpenter.Drifted)
		t.say(m, "It has drifted: %s.", why.Reason)
		t.cause()
	case m.ended(karpenter.Drifted):
		t.say(m, "It has drifted no more.")
	}
}

// cause tells the latest change of the pool before a drift.
func (t *teller) cause() {
	if t.poolChanged == nil {
		t.unknown("What changed before that, the recording doesn't show: it may be the NodeClass, or the cloud.")
		return
	}
	changed := *t.poolChanged
	t.say(changed, "Before that, NodePool %s changed: %s.", t.pool, check.Change(changed.before, changed.Event))
}

// goes tells how a NodeClaim is disrupted and ends.
func (t *teller) goes(m moment) {
	if m.became(karpenter.DisruptionReason) {
		why, _ := karpenter.Condition(m.is, karpenter.DisruptionReason)
		t.disrupted = true
		t.say(m, "It is disrupted: %s.", why.Reason)
	}
	if m.marked() {
		t.draining = true
		t.stageSince = t.h.Offset(m.Time)
		t.say(m, "The NodeClaim is being deleted. %s", t.deleter(m))
	}
	for _, stage := range []struct{ condition, word string }{
		{karpenter.Drained, "It is drained"},
		{karpenter.VolumesDetached, "Its volumes are detached"},
		{karpenter.InstanceTerminating, "Its instance is being ended"},
	} {
		if m.became(stage.condition) {
			at := t.h.Offset(m.Time)
			t.say(m, "%s, %s after its deletion.", stage.word, (at - t.stageSince).Round(1e7))
		}
	}
}

// deleter tells who deletes a NodeClaim.
func (t *teller) deleter(m moment) string {
	expires, ever := karpenter.Expires(m.is)
	switch {
	case t.disrupted:
		return "Karpenter has decided that before."
	case ever && !m.is.GetDeletionTimestamp().Time.Before(expires):
		return fmt.Sprintf("It has expired: its expireAfter of %s is over.", expires.Sub(m.is.GetCreationTimestamp().Time))
	default:
		return "Who deleted it, the recording doesn't show: it wasn't disrupted before, and hasn't expired."
	}
}

// replacement tells of NodeClaims that are made while this one is disrupted.
func (t *teller) replacement(m moment) {
	switch {
	case m.Type == watch.Added && t.disrupted && !t.draining && karpenter.NodePoolOf(m.is) == t.pool:
		t.replacements = append(t.replacements, m.Object.Name)
		t.say(m, "Meanwhile NodeClaim %s is asked for, of the same pool: probably its replacement.", m.Object.Name)
	case m.became(karpenter.Initialized) && slices.Contains(t.replacements, m.Object.Name):
		t.say(m, "NodeClaim %s is initialized.", m.Object.Name)
	}
}

func (t *teller) nodeMoment(m moment) {
	switch {
	case m.Type == watch.Added:
		t.say(m, "Node %s joins.", t.node)
	case m.Type == watch.Deleted:
		t.say(m, "The node is gone.")
		return
	}
	if m.was == nil {
		return
	}
	old := karpenter.Taints(m.was)
	for _, taint := range karpenter.Taints(m.is) {
		if !slices.Contains(old, taint) {
			t.say(m, "The node gets the taint %s.", taint.ToString())
		}
	}
	switch was, is := karpenter.NodeReady(m.was), karpenter.NodeReady(m.is); {
	case was && !is:
		t.say(m, "The node isn't ready any more.")
	case is && !was:
		t.say(m, "The node is ready.")
	}
	t.conditions(m)
	if m.marked() {
		t.say(m, "The node is being deleted.")
	}
}

// conditions tells of a node's other conditions, for which it may be repaired.
func (t *teller) conditions(m moment) {
	for _, c := range karpenter.Conditions(m.is) {
		was, had := karpenter.Condition(m.was, c.Type)
		if c.Type != string(corev1.NodeReady) && was.Status != c.Status && (had || c.Status == metav1.ConditionTrue) {
			t.say(m, "The node's condition %s is %s: %s.", c.Type, c.Status, c.Reason)
		}
	}
}

// podMoment tells of the pods of a node that is drained.
func (t *teller) podMoment(m moment) {
	if t.node == "" || karpenter.PodNode(m.is) != t.node {
		return
	}
	evicted := string(corev1.DisruptionTarget)
	switch {
	case m.became(evicted):
		why, _ := karpenter.Condition(m.is, evicted)
		t.say(m, "Pod %s is told to go: %s.", m.Object.Name, why.Reason)
	case m.Type == watch.Deleted && t.draining:
		t.say(m, "Pod %s is gone.", m.Object.Name)
	}
}
