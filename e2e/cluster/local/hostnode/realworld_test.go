//go:build e2e

package hostnode_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/hostnode"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// world is a host node on a real control plane, that of $KUBECONFIG.
type world struct {
	*WithT
	t         *testing.T
	ctx       context.Context
	config    *rest.Config
	client    *kubernetes.Clientset
	node      *hostnode.Node
	image     string
	namespace string
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	w.ctx = ctx
	w.SetDefaultEventuallyTimeout(15 * time.Second)
	w.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	if os.Getenv("KUBECONFIG") == "" {
		t.Fatal("KUBECONFIG must lead to a control plane that may be written to, such as make up gives")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	w.Expect(err).NotTo(HaveOccurred())
	w.config, w.client = config, kubernetes.NewForConfigOrDie(config)

	dir := t.TempDir()
	w.node, err = hostnode.Start(ctx, hostnode.Options{
		Config: config, Dir: filepath.Join(dir, "node"), Logs: filepath.Join(dir, "logs"),
		Backoff: time.Second, Heartbeat: time.Second,
	})
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		w.Expect(w.node.Close(ctx)).To(Succeed())
		w.Expect(w.node.Close(ctx)).To(Succeed(), "a second time")
		_ = w.client.CoreV1().Nodes().Delete(ctx, hostnode.Name, metav1.DeleteOptions{})
	})
	program := filepath.Join(dir, "program")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./testdata/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), string(out))
	ref, err := image.FromBinary(ctx, filepath.Join(dir, "image"), program, []string{"FROM_IMAGE=yes", "TWICE=image"},
		"65532:65532")
	w.Expect(err).NotTo(HaveOccurred())
	w.image, err = w.node.Load(ctx, ref)
	w.Expect(err).NotTo(HaveOccurred())

	ns, err := w.client.CoreV1().Namespaces().
		Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "hostnode-"}}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.namespace = ns.Name
	t.Cleanup(func() {
		_ = w.client.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{})
	})
	w.Eventually(func() error {
		_, err := w.client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	}).Should(Succeed())
	return w
}

func (w *world) pod(name string, change func(*corev1.Pod), steps ...string) *corev1.Pod {
	w.t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: hostnode.Name, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "main", Image: w.image, Args: steps}},
		},
	}
	if change != nil {
		change(p)
	}
	created, err := w.client.CoreV1().Pods(w.namespace).Create(w.ctx, p, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	return created
}

func (w *world) get(name string) func() *corev1.Pod {
	return func() *corev1.Pod {
		p, err := w.client.CoreV1().Pods(w.namespace).Get(w.ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		return p
	}
}

func (w *world) phase(name string) func() corev1.PodPhase {
	return func() corev1.PodPhase {
		if p := w.get(name)(); p != nil {
			return p.Status.Phase
		}
		return "gone"
	}
}

func (w *world) log(name string) string {
	w.t.Helper()
	r, err := w.node.PodLog(w.ctx, w.namespace, name)
	w.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	w.Expect(err).NotTo(HaveOccurred())
	return string(data)
}

func sicken(w *world, url string) {
	request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, url, nil)
	w.Expect(err).NotTo(HaveOccurred())
	answer, err := http.DefaultClient.Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(answer.Body.Close()).To(Succeed())
}

// describe returns what a pod's containers wait for or ended with.
func describe(p *corev1.Pod) string {
	if p == nil {
		return "no pod"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s", p.Status.Phase)
	for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		switch {
		case s.State.Waiting != nil:
			fmt.Fprintf(&b, "\n%s waits: %s: %s", s.Name, s.State.Waiting.Reason, s.State.Waiting.Message)
		case s.State.Terminated != nil:
			fmt.Fprintf(&b, "\n%s ended: %d: %s", s.Name, s.State.Terminated.ExitCode, s.State.Terminated.Message)
		default:
			fmt.Fprintf(&b, "\n%s runs", s.Name)
		}
	}
	return b.String()
}
