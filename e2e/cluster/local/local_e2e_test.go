//go:build e2e

package local

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// version of Kubernetes that is tried: $K8S, or the newest.
func version(t *testing.T) string {
	t.Helper()
	minor := os.Getenv("K8S")
	if minor == "" {
		minor = "1.36"
	}
	v, err := build.Kubernetes(minor)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// cache has the programs of the user's cache, and no clusters but the test's.
func cache(t *testing.T) *build.Cache {
	t.Helper()
	users, err := build.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(users.Dir, "build"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := &build.Cache{Dir: t.TempDir(), Progress: func(line string) { t.Log(line) }}
	if err := os.Symlink(filepath.Join(users.Dir, "build"), filepath.Join(c.Dir, "build")); err != nil {
		t.Fatal(err)
	}
	return c
}

// pid of a component, waited for.
func pid(g Gomega, c *build.Cache, name, component string) int {
	k := kwokctl{folder: &owned.Folder{Name: name, Dir: filepath.Join(clusters(c.Dir), name)}}
	var id int
	g.Eventually(func() (err error) {
		content, err := os.ReadFile(k.pidFile(component))
		if err == nil {
			id, err = strconv.Atoi(string(content))
		}
		return err
	}, "10s", "5ms").Should(Succeed())
	return id
}

func TestAClusterFromStartToClose(t *testing.T) {
	g := NewWithT(t)
	c, logs := cache(t), filepath.Join(t.TempDir(), "logs")
	_, err := binaries(t.Context(), c, version(t)) // the go command needs the user's home
	g.Expect(err).NotTo(HaveOccurred())
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "config"))
	t.Setenv("KWOK_RUNTIME", "docker")
	t.Setenv("TMPDIR", t.TempDir())
	deaths := make(chan cluster.Death, 10)
	begin := time.Now()
	up, err := Start(t.Context(), c, cluster.Options{
		Name: "one", Kubernetes: version(t), Logs: logs,
		Progress: func(line string) { t.Log(line) },
		OnDeath:  func(d cluster.Death) { deaths <- d },
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("started in %s", time.Since(begin))
	t.Cleanup(func() { _ = up.Close(context.WithoutCancel(t.Context())) })

	dir := filepath.Join(clusters(c.Dir), "one")
	kubeconfig := up.(interface{ Kubeconfig() string }).Kubeconfig()
	for path, mode := range map[string]os.FileMode{dir: 0o700, kubeconfig: 0o600} {
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(mode), path)
	}
	g.Expect(os.ReadDir(home)).To(BeEmpty(), "the user's home is none of ours")
	g.Expect(os.ReadDir(os.TempDir())).To(BeEmpty())

	fakeNodesRunPods(t, kubernetes.NewForConfigOrDie(up.Config()), 10*time.Second)

	port, err := up.Port(8080)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(free(port)).To(BeTrue())

	g.Consistently(deaths, "1s").ShouldNot(Receive())
	victim := pid(g, c, "one", scheduler)
	begin = time.Now()
	g.Expect(syscall.Kill(victim, syscall.SIGKILL)).To(Succeed())
	var d cluster.Death
	g.Eventually(deaths, "1s", "1ms").Should(Receive(&d))
	t.Logf("death noticed after %s", time.Since(begin))
	g.Expect(d.Component).To(Equal(scheduler))
	g.Expect(d.LastLines).To(ContainElement(ContainSubstring("Starting Kubernetes Scheduler")))

	begin = time.Now()
	g.Expect(up.Close(t.Context())).To(Succeed())
	t.Logf("closed in %s", time.Since(begin))
	g.Expect(process.Within(dir)).To(BeEmpty())
	g.Expect(dir).NotTo(BeADirectory())
	g.Expect(up.Close(t.Context())).To(Succeed())
	g.Consistently(deaths, "500ms").ShouldNot(Receive())
	for _, name := range components() {
		g.Expect(filepath.Join(logs, name+".log")).To(BeARegularFile())
	}
}

// fakeNodesRunPods makes sure that KWOK plays the kubelets of the nodes that
// are its own, and of no others, and that pods run there within that time.
func fakeNodesRunPods(t *testing.T, client kubernetes.Interface, within time.Duration) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	for name, annotations := range map[string]map[string]string{
		"fake": {"kwok.x-k8s.io/node": "fake"}, "other": nil,
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
		_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	labels := map[string]string{"app": "sample"}
	app := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "sample"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
			},
		},
	}
	apps, pods := client.AppsV1().Deployments("default"), client.CoreV1().Pods("default")
	begin := time.Now()
	_, err := apps.Create(ctx, app, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	running := func() (n int) {
		list, err := pods.List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, p := range list.Items {
			if p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == "fake" {
				n++
			}
		}
		return n
	}
	g.Eventually(running, within, "20ms").Should(Equal(3))
	t.Logf("pods running after %s", time.Since(begin))
	g.Expect(apps.Delete(ctx, "sample", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() (int, error) {
		list, err := pods.List(ctx, metav1.ListOptions{})
		return len(list.Items), err
	}, "10s", "20ms").Should(BeZero())

	other, err := client.CoreV1().Nodes().Get(ctx, "other", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Status.NodeInfo.KubeletVersion).To(BeEmpty(), "KWOK must leave it alone")
	leases, err := client.CoordinationV1().Leases("kube-node-lease").List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, l := range leases.Items {
		names = append(names, l.Name)
	}
	g.Expect(names).To(ContainElement("fake"))
	g.Expect(names).NotTo(ContainElement("other"))
}
