package hostnode

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

func TestPhase(t *testing.T) {
	runs := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	waits := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	good := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	bad := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}
	crashed := waits
	crashed.LastTerminationState = bad.State

	always, onFailure, never := corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever
	for _, c := range []struct {
		what       string
		policy     corev1.RestartPolicy
		containers []corev1.ContainerStatus
		want       corev1.PodPhase
	}{
		{"not started", always, []corev1.ContainerStatus{waits}, corev1.PodPending},
		{"one not started", always, []corev1.ContainerStatus{runs, waits}, corev1.PodPending},
		{"runs", never, []corev1.ContainerStatus{runs, good}, corev1.PodRunning},
		{"crashes", always, []corev1.ContainerStatus{crashed}, corev1.PodRunning},
		{"ended well, to be restarted", always, []corev1.ContainerStatus{good}, corev1.PodRunning},
		{"ended badly, to be restarted", onFailure, []corev1.ContainerStatus{bad, good}, corev1.PodRunning},
		{"all ended well", onFailure, []corev1.ContainerStatus{good, good}, corev1.PodSucceeded},
		{"one ended badly", never, []corev1.ContainerStatus{good, bad}, corev1.PodFailed},
	} {
		p := &pod{latest: &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.policy}}}
		NewWithT(t).Expect(p.phase(&corev1.PodStatus{ContainerStatuses: c.containers})).To(Equal(c.want), c.what)
	}
}

func TestStatusLeavesOthersConditions(t *testing.T) {
	g := NewWithT(t)
	latest := &corev1.Pod{}
	latest.UID = "1"
	latest.Status.Conditions = []corev1.PodCondition{
		{Type: "example.com/gate", Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"},
	}
	patch, err := statusPatch(latest, nil,
		corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(patch)).NotTo(ContainSubstring("example.com/gate"))
	g.Expect(string(patch)).To(ContainSubstring(`"reason":null`), "a reason that no longer holds is taken away")
	g.Expect(string(patch)).To(ContainSubstring(`"uid":"1"`))
}
