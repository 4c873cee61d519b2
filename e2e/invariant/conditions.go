package invariant

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// conditionsWellFormed checks that the conditions of NodeClaims, NodePools and the provider's
// NodeClasses meet metav1.Condition, so that tools can wait for them:
//
//   - Each type is there once. The status is True, False or Unknown. The reason is one word.
//     The message is there, maybe empty. lastTransitionTime is a time.
//   - observedGeneration is not above the object's generation.
//   - When the status changes, lastTransitionTime does not go back. It may stay only if it is
//     recent (writeLag).
//
// The API server lets most of this pass: Karpenter's CRDs require only type, status and
// lastTransitionTime. A change of lastTransitionTime without one of the status is not judged,
// because specs turn it back to make time pass.
func conditionsWellFormed() Invariant {
	return Invariant{
		Name:     "conditions are well-formed",
		Source:   "k8s.io/apimachinery, pkg/apis/meta/v1, Condition",
		Untested: "no object had conditions",
		New:      func(p Params) check.Monitor { return &conditionMonitor{params: p} },
	}
}

type conditionMonitor struct {
	staleWrites
	params Params
}

func (c *conditionMonitor) Observe(m *check.Moment) {
	c.observe(m)
	switch {
	case m.End:
	case m.Event != nil && c.judges(m.Event.Resource):
		c.judge(m, m.Event.Object)
	case m.Event == nil:
		for _, r := range m.World.Resources() {
			for _, o := range m.World.List(r) {
				if c.judges(r) {
					c.judge(m, o)
				}
			}
		}
	}
}

func (c *conditionMonitor) judges(r schema.GroupVersionResource) bool {
	return r == karpenter.NodeClaims || r == karpenter.NodePools || c.params.isNodeClass(r)
}

// judge judges the conditions that an event has changed, except stale writes. Each is a test.
func (c *conditionMonitor) judge(m *check.Moment, o *history.Object) {
	var before []map[string]any
	if m.Before != nil {
		before = objectsAt(m.Before.Unstructured(), "status", "conditions")
	}
	conditions := objectsAt(o.Unstructured(), "status", "conditions")
	for i, condition := range conditions {
		old := conditionOfType(before, condition["type"])
		if old != nil && sameCondition(old, condition) {
			continue
		}
		m.Tested()
		fault := faultOfCondition(old, condition, generationOf(o.Unstructured()), m.Time)
		if conditionOfType(conditions[:i], condition["type"]) != nil {
			fault = "is there twice"
		}
		if kind, _ := condition["type"].(string); fault != "" && !c.stale(m, kind) {
			m.Broken("condition %v of %s %s %s", condition["type"], o.Unstructured().GetKind(), o, fault)
		}
	}
}

func conditionOfType(conditions []map[string]any, kind any) map[string]any {
	name, _ := kind.(string)
	for _, c := range conditions {
		if n, ok := c["type"].(string); ok && n == name {
			return c
		}
	}
	return nil
}

// sameCondition compares two conditions. Reflection is slow, so strings do without it.
func sameCondition(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, v := range a {
		w, there := b[key]
		s, isText := v.(string)
		t, wasText := w.(string)
		if !there || isText != wasText || isText && s != t || !isText && !reflect.DeepEqual(v, w) {
			return false
		}
	}
	return true
}

// writeLag bounds the time from a transition's lastTransitionTime, in whole seconds, to its
// recording. Controllers write their results at the end; on a busy machine, Karpenter took at
// most 4 s.
const writeLag = 10 * time.Second

// Patterns of metav1.Condition. It allows messages of 32768 characters, and reasons of 1024.
var (
	typePattern = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?` +
		`(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`)
	reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	statuses      = []any{string(metav1.ConditionTrue), string(metav1.ConditionFalse), string(metav1.ConditionUnknown)}
)

// faultOfCondition returns what is wrong with a condition, empty if nothing is.
func faultOfCondition(old, c map[string]any, generation int64, now time.Time) string {
	kind, _ := c["type"].(string)
	reason, _ := c["reason"].(string)
	message, hasMessage := c["message"].(string)
	observed, _ := c["observedGeneration"].(int64)
	since, hasTime := asTime(c["lastTransitionTime"])
	before, hadTime := asTime(old["lastTransitionTime"])
	switch {
	case !typePattern.MatchString(kind):
		return "has no valid type"
	case !slices.Contains(statuses, c["status"]):
		return fmt.Sprintf("has the status %v; it should be True, False or Unknown", c["status"])
	case reason == "":
		return "has no reason"
	case len(reason) > 1024 || !reasonPattern.MatchString(reason):
		return fmt.Sprintf("has the reason %q; it should be a CamelCase word", reason)
	case !hasMessage:
		return "has no message, not even an empty one"
	case len(message) > 32768:
		return fmt.Sprintf("has a message of %d bytes; 32768 are allowed", len(message))
	case !hasTime:
		return fmt.Sprintf("has no lastTransitionTime that could be read: %v", c["lastTransitionTime"])
	case generation > 0 && observed > generation:
		return fmt.Sprintf("was observed at generation %d, and the object is at %d", observed, generation)
	case hadTime && old["status"] != c["status"] && since.Before(before):
		return fmt.Sprintf("went from %v to %v, and lastTransitionTime back from %v to %v",
			old["status"], c["status"], old["lastTransitionTime"], c["lastTransitionTime"])
	case hadTime && old["status"] != c["status"] && since.Equal(before) && now.Sub(before) > writeLag:
		return fmt.Sprintf("went from %v to %v, and lastTransitionTime stays %v, which was %s ago",
			old["status"], c["status"], c["lastTransitionTime"], now.Sub(before).Round(time.Second))
	default:
		return ""
	}
}
