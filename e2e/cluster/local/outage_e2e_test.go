//go:build e2e

package local

import (
	"context"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
)

func TestTheAPIServerGoesAndComesBack(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	c, err := build.Open(nil)
	g.Expect(err).NotTo(HaveOccurred())
	deaths := make(chan cluster.Death, 10)
	up, err := Start(ctx, c, cluster.Options{
		Name: "outage", Kubernetes: version(t), Logs: t.TempDir(), OnDeath: func(d cluster.Death) { deaths <- d },
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = up.Close(context.WithoutCancel(ctx)) })
	client := kubernetes.NewForConfigOrDie(up.Config())
	_, err = client.CoreV1().Namespaces().
		Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "stays"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	begin := time.Now()
	start, err := up.(cluster.Stopper).StopAPIServer(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("stopped after %s", time.Since(begin))
	_, err = client.CoreV1().Namespaces().Get(ctx, "stays", metav1.GetOptions{})
	g.Expect(err).To(MatchError(syscall.ECONNREFUSED))
	_, err = up.(cluster.Stopper).StopAPIServer(ctx)
	g.Expect(err).To(MatchError(ContainSubstring("stopped already")))
	g.Consistently(deaths, 3*time.Second).ShouldNot(Receive())

	begin = time.Now()
	g.Expect(start(ctx)).To(Succeed())
	t.Logf("back after %s", time.Since(begin))
	_, err = client.CoreV1().Namespaces().Get(ctx, "stays", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	resume, err := up.(cluster.Pauser).PauseKubelets(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Consistently(deaths, time.Second).ShouldNot(Receive(), "who is silent isn't dead")
	g.Expect(resume()).To(Succeed())
	// After failures to reach the server, controllers and kubelets retry as client-go's
	// reflectors do: with delays that double, up to 30 s.
	clustertest.FakeNodes(t, up, client, false)

	again := up.(*local).supervisor
	server, watched := again.process(apiserver)
	g.Expect(watched).To(BeTrue())
	g.Expect(server.Kill()).To(Succeed())
	g.Eventually(deaths, "2s").Should(Receive(HaveField("Component", apiserver)), "nobody asked for that")
}
