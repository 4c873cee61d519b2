//go:build e2e

package install

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

const kubernetesVersion = "v1.36.3"

// startCluster starts a local cluster for the time of the test.
func startCluster(t *testing.T) (cluster.Cluster, *build.Cache) {
	t.Helper()
	cache, err := build.Open(func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	c, err := local.Start(t.Context(), cache, cluster.Options{
		Name: fmt.Sprintf("providers-%d", time.Now().UnixNano()), Kubernetes: kubernetesVersion, Logs: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return c, cache
}

// install prepares the adapter and installs it on a new cluster.
func install(t *testing.T, a *providers.Adapter, version string) (*Installed, cluster.Cluster, error) {
	t.Helper()
	return installSelected(t, a, Selection{Version: version, Kubernetes: kubernetesVersion})
}

func installSelected(t *testing.T, a *providers.Adapter, s Selection) (*Installed, cluster.Cluster, error) {
	t.Helper()
	c, cache := startCluster(t)
	p, err := Prepare(t.Context(), cache, a, s)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	i, err := p.Install(t.Context(), c, func(line string) { t.Log(time.Since(start).Round(time.Millisecond), line) })
	t.Log(time.Since(start).Round(time.Millisecond), "done")
	return i, c, err
}

// A pending pod gets a node, and the controller's log is clean.
func TestKwokProvisionsAtEveryRelease(t *testing.T) {
	for _, version := range []string{"v1.15.0", "v1.9.0", "v1.5.5", "v1.0.8"} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			a := providers.Named("kwok")
			i, c, err := install(t, a, version)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(i.CoreVersion).To(Equal(version))
			g.Expect(i.KubernetesVersion).To(Equal(kubernetesVersion))
			g.Expect(i.Pods(t.Context())).To(HaveLen(1))

			class, pool := a.NodeClassObject("plumbline"), a.NodePoolTemplate()
			pool.SetName("plumbline")
			g.Expect(unstructured.SetNestedMap(pool.Object, map[string]any{
				"group": class.GroupVersionKind().Group, "kind": class.GetKind(), "name": class.GetName(),
			}, "spec", "template", "spec", "nodeClassRef")).To(Succeed())
			_, err = i.clients.dynamic.Resource(a.NodeClassGVR()).Apply(t.Context(), class.GetName(), class, applyOptions())
			g.Expect(err).NotTo(HaveOccurred())
			_, err = i.clients.dynamic.Resource(karpenter.NodePools).Apply(t.Context(), pool.GetName(), pool, applyOptions())
			g.Expect(err).NotTo(HaveOccurred())
			pods := i.clients.typed.CoreV1().Pods("default")
			_, err = pods.Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "pending"},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}},
			}, metav1.CreateOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Eventually(func() corev1.PodPhase {
				pod, err := pods.Get(t.Context(), "pending", metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				return pod.Status.Phase
			}, 30*time.Second, 100*time.Millisecond).Should(Equal(corev1.PodRunning))

			log, err := c.PodLog(t.Context(), i.Namespace, i.Pods(t.Context())[0])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(i.Unexpected(lines(t, log))).To(BeEmpty())
			g.Expect(i.Metric(t.Context(), "karpenter_cluster_state_synced")).To(BeNumerically("==", 1))
			_, err = i.Metric(t.Context(), "karpenter_nothing")
			g.Expect(err).To(MatchError(ErrNoMetric))

			_, err = i.Call(t.Context(), providers.UnreadyNodeClass, providers.HookValues{NodeClass: "plumbline"})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

// Where images can't run, the controller runs as a program of the host.
func TestTheControllerAsAProgramOfTheHost(t *testing.T) {
	g := NewWithT(t)
	a := providers.Named("kwok")
	i, c, err := installSelected(t, a, Selection{Kubernetes: kubernetesVersion, Host: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i.Digest).To(BeEmpty())
	log, err := c.PodLog(t.Context(), i.Namespace, i.Pods(t.Context())[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i.Unexpected(lines(t, log))).To(BeEmpty())
}

// lines reads a log and closes it.
func lines(t *testing.T, log io.ReadCloser) []string {
	t.Helper()
	defer log.Close()
	text, err := io.ReadAll(log)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestAControllerThatExits(t *testing.T) {
	a := providers.Named("kwok")
	a.Controller.Env = map[string]string{"LOG_LEVEL": "info", "FEATURE_GATES": "NodeRepair=perhaps"}
	a.Controller.Gates = nil
	start := time.Now()
	_, _, err := install(t, a, "")
	g := NewWithT(t)
	g.Expect(err).To(MatchError(And(
		ContainSubstring("the controller of kwok is not ready: its container controller ended with exit code 2"),
		ContainSubstring("panic: parsing feature gates, invalid value of NodeRepair: perhaps"),
	)))
	g.Expect(time.Since(start)).To(BeNumerically("<", 30*time.Second), "it must not wait for the timeout")
	t.Log(err)
}

func TestAControllerThatNeverBecomesReady(t *testing.T) {
	a := providers.Named("kwok")
	a.Controller.Env = map[string]string{"HEALTH_PROBE_PORT": "{{.Ports.elsewhere}}"} // not the port of its probe
	a.Controller.Ports["elsewhere"] = 9999
	a.Controller.Ready.Timeout = 5 * time.Second
	_, _, err := install(t, a, "")
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring("it was not ready within 5s (controller.ready.timeout)"),
		ContainSubstring("connection refused"),
		ContainSubstring("its log at the end, or where it failed:"),
	)))
	t.Log(err)
}

func TestARoleWithAVerbMissing(t *testing.T) {
	a := providers.Named("kwok")
	cache, err := build.Open(nil)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	p, err := Prepare(t.Context(), cache, a, Selection{Kubernetes: kubernetesVersion})
	g.Expect(err).NotTo(HaveOccurred())
	p.values.Ports = map[string]int{"metrics": 11111, "health": 22222, "webhook": 8443, "webhookMetrics": 8001}
	m, err := p.render(t.Context(), p.values, platformOf(kubernetesVersion))
	g.Expect(err).NotTo(HaveOccurred())

	var text strings.Builder
	for _, o := range m.objects {
		raw, err := o.MarshalJSON()
		g.Expect(err).NotTo(HaveOccurred())
		text.WriteString("---\n" + strings.NewReplacer("11111", "{{.Ports.metrics}}", "22222", "{{.Ports.health}}").
			Replace(string(raw)) + "\n")
	}
	broken := strings.ReplaceAll(text.String(),
		`"resources":["nodepools","nodepools/status","nodeclaims","nodeclaims/status","nodeoverlays","nodeoverlays/status"],"verbs":["get","list","watch"]`,
		`"resources":["nodeclaims","nodeclaims/status"],"verbs":["get","list","watch"]`)
	g.Expect(broken).NotTo(Equal(text.String()))
	file := filepath.Join(t.TempDir(), "all.yaml")
	g.Expect(os.WriteFile(file, []byte(broken), 0o600)).To(Succeed())
	a.Controller.Chart, a.Controller.Manifests = nil, []string{file}

	_, _, err = install(t, a, "")
	g.Expect(err).To(MatchError(ContainSubstring(
		"the controller of kwok is not ready: the ClusterRole (or Role) of its service account kube-system/karpenter lacks " +
			"list on nodepools.karpenter.sh")))
	t.Log(err)
}
