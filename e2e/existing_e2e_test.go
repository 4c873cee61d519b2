//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

// sampled selects one spec of each of five behaviors, as `make import-test` does.
const sampled = "^(provisioning/fits|taints/startup|drift/template/labels|expiration/replaced|budgets/count)$"

// TestOnAClusterThatExists runs specs on the cluster of KUBECONFIG, whose nodes pull from
// REGISTRY, or on a local one. Afterwards everything else on the cluster is unchanged.
func TestOnAClusterThatExists(t *testing.T) {
	if os.Getenv("PLUMBLINE_RUN_FOLDER") != "" { // a worker: the leader has done the rest
		e2e.Run(t, providers.Named("kwok"), suites.All()...)
		return
	}
	g := NewWithT(t)
	t.Setenv("CLUSTER", "existing")
	t.Setenv("FOCUS", sampled)
	if os.Getenv("KUBECONFIG") == "" {
		cache, err := build.Open(func(step string) { t.Log(step) })
		g.Expect(err).NotTo(HaveOccurred())
		c, err := local.Start(t.Context(), cache,
			cluster.Options{Name: "somebodys-" + rand.String(5), Kubernetes: "v1.36.3", Logs: t.TempDir(), Bare: true})
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { g.Expect(c.Close(context.WithoutCancel(t.Context()))).To(Succeed()) })
		clustertest.Settled(t, c.Config())
		t.Setenv("KUBECONFIG", c.Kubeconfig())
		t.Setenv("REGISTRY", clustertest.Registry(t))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	g.Expect(err).NotTo(HaveOccurred())
	before := clustertest.Everything(t, config)

	e2e.Run(t, providers.Named("kwok"), suites.All()...)

	g.Eventually(func() []string {
		return clustertest.Differences(before, clustertest.Everything(t, config))
	}, "10s", "100ms").Should(BeEmpty())
}
