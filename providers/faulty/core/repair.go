package core

import (
	"slices"
	"sync"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	nodeutils "sigs.k8s.io/karpenter/pkg/utils/node"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// repairLies returns the lies about nodes that are unhealthy.
func repairLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"ignores-vetoes": reads(func(node *corev1.Node) { delete(node.Annotations, v1.DoNotRepairAnnotationKey) }),
		"takes-do-not-disrupt-for-a-veto": reads(func(node *corev1.Node) {
			if node.Annotations[v1.DoNotDisruptAnnotationKey] == "true" {
				node.Annotations[v1.DoNotRepairAnnotationKey] = "true"
			}
		}),
		"repairs-as-if-one-were-ill": reads(hidesAllButOne()),
		"repairs-ready-nodes-only":   reads(hideFaultUnlessReady, rememberingNodes),

		"overlooks-reboots":            reads(hideReboot, remembering),
		"reboots-for-ever":             reads(func(claim *v1.NodeClaim) { claim.UID = uuid.NewUUID() }, remembering),
		"reboots-first":                reads(hideWhatNoRebootClears, rememberingNodes),
		"forgets-reboots-at-a-restart": reads(hideRebootFromBefore(time.Now()), rebooting),
		"fences-no-rebooting-nodes":    writes(unfence, rebooting),
		"reboots-without-a-drain": reads(func(claim *v1.NodeClaim) {
			claim.Annotations[v1.RebootTerminationGracePeriodAnnotationKey] = "0s"
		}, rebooting),
	}
}

// rebooting is core's controller that drains and reboots nodes.
const rebooting = "nodeclaim.reboot"

// hideReboot removes a NodeClaim's condition that says that its node is being rebooted.
func hideReboot(claim *v1.NodeClaim) {
	claim.Status.Conditions = slices.DeleteFunc(claim.Status.Conditions, func(c status.Condition) bool {
		return c.Type == v1.ConditionTypeRebooting
	})
}

// hideRebootFromBefore hides a reboot that was requested before a time.
func hideRebootFromBefore(start time.Time) func(*v1.NodeClaim) {
	return func(claim *v1.NodeClaim) {
		reboot := claim.StatusConditions(status.WithObservedOnly()).Get(v1.ConditionTypeRebooting)
		if reboot != nil && reboot.LastTransitionTime.Time.Before(start) {
			hideReboot(claim)
		}
	}
}

// unfence removes the taint that keeps pods from a node that is about to be rebooted.
func unfence(node *corev1.Node) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == v1.RebootingTaintKey
	})
}

// hideWhatNoRebootClears removes a fault that only a replacement clears from a node with one that a
// reboot clears.
func hideWhatNoRebootClears(node *corev1.Node) {
	is := func(kind corev1.NodeConditionType) func(corev1.NodeCondition) bool {
		return func(c corev1.NodeCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue }
	}
	if slices.ContainsFunc(node.Status.Conditions, is(kwok.KWOKRebootRequiredCondition)) {
		node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, is(kwok.KWOKUnhealthyCondition))
	}
}

// hideFaultUnlessReady hides the fault of a node that isn't ready.
func hideFaultUnlessReady(node *corev1.Node) {
	if nodeutils.GetCondition(node, corev1.NodeReady).Status != corev1.ConditionTrue {
		node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == kwok.KWOKUnhealthyCondition
		})
	}
}

// hidesAllButOne makes unhealthy nodes look healthy, except the first one of each pool.
func hidesAllButOne() func(*corev1.Node) {
	var first sync.Map
	return func(node *corev1.Node) {
		isUnhealthy := func(c corev1.NodeCondition) bool {
			return c.Type == kwok.KWOKUnhealthyCondition && c.Status == corev1.ConditionTrue
		}
		if !slices.ContainsFunc(node.Status.Conditions, isUnhealthy) {
			return
		}
		if one, _ := first.LoadOrStore(node.Labels[v1.NodePoolLabelKey], node.Name); one != node.Name {
			node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, isUnhealthy)
		}
	}
}
