package hostnode

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeletedPodIsRemoved(t *testing.T) {
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyAlways, nil, "patient")
	d.Eventually(d.log).Should(Equal("patient\n"))
	p, err := d.client.CoreV1().Pods("ns").Get(t.Context(), "p", metav1.GetOptions{})
	d.Expect(err).NotTo(HaveOccurred())
	now, grace := metav1.Now(), int64(5)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &now, &grace // as the API server does it
	d.Expect(d.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), p, "ns")).To(Succeed())
	d.Eventually(func() bool {
		_, err := d.client.CoreV1().Pods("ns").Get(t.Context(), "p", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}).Should(BeTrue())
	d.Expect(d.log()).To(Equal("patient\nbye\n"))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Expect(d.removed).To(HaveLen(1))
	d.Expect(*d.removed[0].GracePeriodSeconds).To(BeZero())
	d.Expect(*d.removed[0].Preconditions.UID).To(BeEquivalentTo("1"))
	d.Expect(d.statuses[len(d.statuses)-1].ContainerStatuses[0].State.Terminated).
		NotTo(BeNil(), "its end is told before it goes")
}

func TestCloseEndsStubbornProcesses(t *testing.T) {
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyAlways, nil, "stubborn")
	d.Eventually(d.log).Should(Equal("stubborn\n"))
	at := time.Now()
	d.Expect(d.node.Close(t.Context())).To(Succeed())
	d.Expect(time.Since(at)).To(BeNumerically("~", closeGrace, time.Second))
	d.Expect(d.node.starter.running).To(BeEmpty())
	d.Expect(d.node.options.Dir).NotTo(BeADirectory())
	d.Expect(d.node.Close(t.Context())).To(Succeed())
}

func TestKilledPodIsRestartedAtOnce(t *testing.T) {
	d := newDesk(t, Options{Backoff: time.Hour})
	d.pod(corev1.RestartPolicyAlways, nil, "patient")
	for restarts := range 3 {
		d.Eventually(d.main).Should(Equal(fmt.Sprintf("running, ready true, restarts %d, Running", restarts)))
		d.Expect(d.node.Kill("ns", "p")).To(Succeed())
	}
	d.Eventually(d.main).Should(Equal("running, ready true, restarts 3, Running"))
	last := d.now().ContainerStatuses[0].LastTerminationState.Terminated
	d.Expect(last.ExitCode).To(BeEquivalentTo(137), "as after kill -9")
	d.Expect(d.log()).NotTo(ContainSubstring("bye"), "it was not asked to end")
	d.Expect(d.node.Kill("ns", "other")).
		To(MatchError("killing pod ns/other: no container of it runs on node plumbline-host"))
}
