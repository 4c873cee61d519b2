package hostnode

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// syncStatus writes the status whenever it has changed, until ctx ends.
func (p *pod) syncStatus(ctx context.Context) {
	for {
		if err := p.writeStatus(ctx); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
			sleep(ctx, time.Second, nil)
			p.statusChanged()
		}
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
		}
	}
}

// writeStatus writes the status if it has changed since the last write. It leaves conditions
// alone that a kubelet does not own.
func (p *pod) writeStatus(ctx context.Context) error {
	status := p.status()
	p.mu.Lock()
	latest, sent := p.latest, p.sent
	p.mu.Unlock()
	if sent != nil && equality.Semantic.DeepEqual(*sent, status) {
		return nil
	}
	patch, err := statusPatch(latest, sent, status)
	if err != nil {
		return err
	}
	_, err = p.node.client.CoreV1().Pods(latest.Namespace).Patch(ctx, latest.Name,
		types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("status of pod %s/%s: %w", latest.Namespace, latest.Name, err)
	}
	p.mu.Lock()
	p.sent = &status
	p.mu.Unlock()
	return nil
}

// statusPatch returns the patch from the last written status, or the pod's first one, to the
// new one. Conditions that the node does not own are in neither, so they stay unchanged.
func statusPatch(latest *corev1.Pod, sent *corev1.PodStatus, status corev1.PodStatus) ([]byte, error) {
	old := latest.Status.DeepCopy()
	if sent != nil {
		old = sent
	}
	old.Conditions = slices.DeleteFunc(slices.Clone(old.Conditions), func(c corev1.PodCondition) bool {
		return !slices.ContainsFunc(status.Conditions, func(own corev1.PodCondition) bool { return own.Type == c.Type })
	})
	status.QOSClass = old.QOSClass
	before, err := json.Marshal(corev1.Pod{Status: *old})
	if err != nil {
		return nil, err
	}
	// The UID protects a new pod with the same name.
	after, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: latest.UID}, Status: status})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
}

// status returns the pod's current status.
func (p *pod) status() corev1.PodStatus {
	latest := p.object()
	s := corev1.PodStatus{
		ObservedGeneration: latest.Generation,
		HostIP:             loopback, HostIPs: []corev1.HostIP{{IP: loopback}},
		PodIP: loopback, PodIPs: []corev1.PodIP{{IP: loopback}},
		StartTime: &p.started,
	}
	for _, c := range p.init {
		s.InitContainerStatuses = append(s.InitContainerStatuses, c.status())
	}
	for _, c := range p.main {
		s.ContainerStatuses = append(s.ContainerStatuses, c.status())
	}
	s.Phase = p.phase(&s)
	p.mu.Lock()
	sent := p.sent
	p.mu.Unlock()
	s.Conditions = podConditions(latest, sent, p.isInitialized(&s), &s)
	return s
}

// isInitialized reports whether all init containers are done, and all sidecars started.
func (p *pod) isInitialized(s *corev1.PodStatus) bool {
	for i, c := range p.init {
		status := s.InitContainerStatuses[i]
		done := status.State.Terminated != nil && status.State.Terminated.ExitCode == 0
		if c.sidecar {
			done = c.wasStarted()
		}
		if !done {
			return false
		}
	}
	return true
}

// phase follows the kubelet's rules (getPhase in kubelet_pods.go).
func (p *pod) phase(s *corev1.PodStatus) corev1.PodPhase {
	policy := p.object().Spec.RestartPolicy
	for i, c := range p.init {
		ended := s.InitContainerStatuses[i].State.Terminated
		if !c.sidecar && policy == corev1.RestartPolicyNever && ended != nil && ended.ExitCode != 0 {
			return corev1.PodFailed
		}
	}
	var fresh, running, stopped, succeeded int
	for _, c := range s.ContainerStatuses {
		switch {
		case c.State.Running != nil:
			running++
		case c.State.Terminated != nil:
			stopped++
			if c.State.Terminated.ExitCode == 0 {
				succeeded++
			}
		case c.LastTerminationState.Terminated != nil:
			stopped++
		default:
			fresh++
		}
	}
	switch {
	case fresh > 0 || !p.isInitialized(s):
		return corev1.PodPending
	case running > 0 || policy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case stopped == succeeded:
		return corev1.PodSucceeded
	case policy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	default:
		return corev1.PodRunning
	}
}

// podConditions returns a kubelet's conditions. Their times change only with their status.
func podConditions(p *corev1.Pod, before *corev1.PodStatus, initialized bool,
	s *corev1.PodStatus,
) []corev1.PodCondition {
	var not []string
	for i, c := range s.ContainerStatuses {
		if !c.Ready {
			not = append(not, p.Spec.Containers[i].Name)
		}
	}
	why := ""
	if len(not) > 0 {
		why = "containers with unready status: [" + strings.Join(not, " ") + "]"
	}
	all := []corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers, true, "", ""),
		condition(corev1.PodInitialized, initialized, "ContainersNotInitialized", ""),
		condition(corev1.ContainersReady, len(not) == 0, "ContainersNotReady", why),
		condition(corev1.PodReady, len(not) == 0, "ContainersNotReady", why),
		condition(corev1.PodScheduled, true, "", ""),
	}
	for _, gate := range p.Spec.ReadinessGates {
		if len(not) == 0 && !isConditionTrue(p, gate.ConditionType) {
			all[3] = condition(corev1.PodReady, false, "ReadinessGatesNotReady",
				fmt.Sprintf("condition %q is not true", gate.ConditionType))
		}
	}
	if before == nil {
		before = &p.Status
	}
	for i := range all {
		all[i].ObservedGeneration = p.Generation
		all[i].LastTransitionTime = metav1.Now()
		for _, old := range before.Conditions {
			if old.Type == all[i].Type && old.Status == all[i].Status {
				all[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return all
}

func condition(kind corev1.PodConditionType, holds bool, reason, message string) corev1.PodCondition {
	if holds {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
	}
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
}

func isConditionTrue(p *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
