package clustertest

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// namespace is the namespace of the tests' pods.
const namespace = metav1.NamespaceDefault

func newPod(name, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](5),
			Containers: []corev1.Container{{
				Name: "program", Image: image,
				ImagePullPolicy: corev1.PullIfNotPresent,
			}},
		},
	}
}

// within is how long kubelets may take to notice a change. After failures to reach the API
// server, controllers retry with delays that double, up to 30 s.
const within = 40 * time.Second

// forSystem makes a pod tolerate the system's taint, as a provider's chart does.
func forSystem(p *corev1.Pod) *corev1.Pod {
	p.Spec.Tolerations = []corev1.Toleration{{Key: cluster.SystemTaint, Operator: corev1.TolerationOpExists}}
	return p
}

func runsImages(t *testing.T, c cluster.Cluster, client kubernetes.Interface) {
	g, ctx := NewWithT(t), t.Context()
	name, err := c.Load(ctx, programImage(t))
	g.Expect(err).NotTo(HaveOccurred())
	pods := client.CoreV1().Pods(namespace)
	_, err = pods.Create(ctx, forSystem(newPod("real", name)), metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	status := func() (corev1.ContainerStatus, error) {
		p, err := pods.Get(ctx, "real", metav1.GetOptions{})
		if err != nil || len(p.Status.ContainerStatuses) == 0 {
			return corev1.ContainerStatus{}, err
		}
		return p.Status.ContainerStatuses[0], nil
	}
	g.Eventually(status, "30s", "50ms").Should(HaveField("State.Running", Not(BeNil())))
	log := func() (string, error) {
		log, err := c.PodLog(ctx, namespace, "real")
		if err != nil {
			return "", err
		}
		defer log.Close()
		text, err := io.ReadAll(log)
		return string(text), err
	}
	g.Eventually(log, "10s", "50ms").Should(Equal("the program has started\n"))
	if killer, can := c.(cluster.Killer); can {
		g.Expect(killer.Kill(ctx, namespace, "real")).To(Succeed())
		g.Eventually(status, "30s", "50ms").
			Should(And(HaveField("RestartCount", BeNumerically("==", 1)), HaveField("State.Running", Not(BeNil()))))
		g.Eventually(log, "10s", "50ms").
			Should(Equal("the program has started\nthe program has started\n"), "restarts included")
	}
	g.Expect(pods.Delete(ctx, "real", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(podGone(ctx, client, "real"), "15s", "50ms").Should(BeTrue())

	_, err = c.Load(ctx, "./no-such-image.tar")
	g.Expect(err).To(MatchError(ContainSubstring("no-such-image.tar")))
}

func podGone(ctx context.Context, client kubernetes.Interface, name string) func() bool {
	return func() bool {
		_, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}
}

func keepsOff(t *testing.T, client kubernetes.Interface) {
	g, ctx := NewWithT(t), t.Context()
	pods := client.CoreV1().Pods(namespace)
	_, err := pods.Create(ctx, newPod("workload", "none"), metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() ([]corev1.PodCondition, error) {
		p, err := pods.Get(ctx, "workload", metav1.GetOptions{})
		return p.Status.Conditions, err
	}, "10s", "50ms").Should(ContainElement(And(HaveField("Type", corev1.PodScheduled),
		HaveField("Reason", corev1.PodReasonUnschedulable))))
	g.Expect(pods.Delete(ctx, "workload", metav1.DeleteOptions{})).To(Succeed())
}

// FakeNodes checks that KWOK simulates the kubelets of its own nodes only, and that only the
// test's pods run there. On a shared cluster, DaemonSets of others may run there too.
func FakeNodes(t *testing.T, c cluster.Cluster, client kubernetes.Interface, shared bool) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	nodes, pods := client.CoreV1().Nodes(), client.CoreV1().Pods(namespace)
	for name, annotations := range map[string]map[string]string{"fake": {"kwok.x-k8s.io/node": "fake"}, "other": nil} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: annotations,
			Labels: map[string]string{"name": name},
		}}
		_, err := nodes.Create(ctx, node, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	t.Cleanup(func() {
		after := context.WithoutCancel(ctx) // the test's own context has ended
		_ = nodes.Delete(after, "fake", metav1.DeleteOptions{})
		_ = nodes.Delete(after, "other", metav1.DeleteOptions{})
	})
	g.Eventually(nodeReady(ctx, client, "fake"), within, "50ms").Should(BeTrue())

	p := newPod("faked", "none")
	p.Spec.NodeSelector = map[string]string{"name": "fake"}
	p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](30)
	_, err := pods.Create(ctx, p, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (corev1.PodPhase, error) {
		p, err := pods.Get(ctx, "faked", metav1.GetOptions{})
		return p.Status.Phase, err
	}, within, "50ms").Should(Equal(corev1.PodRunning))
	on, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=fake"})
	g.Expect(err).NotTo(HaveOccurred())
	if !shared {
		g.Expect(on.Items).To(HaveLen(1), "no daemons of the system")
	}
	g.Expect(pods.Delete(ctx, "faked", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(podGone(ctx, client, "faked"), "30s", "50ms").Should(BeTrue(), "within its grace period")

	if pauser, can := c.(cluster.Pauser); can {
		pausesKubelets(t, pauser, client)
	}
	other, err := nodes.Get(ctx, "other", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Status.NodeInfo.KubeletVersion).To(BeEmpty(), "KWOK must leave it alone")
}

// pausesKubelets checks that no pod starts while kubelets are paused.
func pausesKubelets(t *testing.T, pauser cluster.Pauser, client kubernetes.Interface) {
	g, ctx := NewWithT(t), t.Context()
	resume, err := pauser.PauseKubelets(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	p := newPod("waits", "none")
	p.Spec.NodeName = "fake"
	pods := client.CoreV1().Pods(namespace)
	_, err = pods.Create(ctx, p, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	phase := func() (corev1.PodPhase, error) {
		p, err := pods.Get(ctx, "waits", metav1.GetOptions{})
		return p.Status.Phase, err
	}
	g.Consistently(phase, 2*time.Second, "100ms").Should(Equal(corev1.PodPending))
	g.Expect(resume()).To(Succeed())
	g.Eventually(phase, within, "50ms").Should(Equal(corev1.PodRunning))
	g.Expect(pods.Delete(ctx, "waits", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(podGone(ctx, client, "waits"), "30s", "50ms").Should(BeTrue())
}

func nodeReady(ctx context.Context, client kubernetes.Interface, name string) func() (bool, error) {
	return func() (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}), err
	}
}
