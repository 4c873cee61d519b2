//go:build e2e

package kind

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
)

// TestWhatEveryBackendDoes is of the Kubernetes version K8S, made of NODE_IMAGE.
func TestWhatEveryBackendDoes(t *testing.T) {
	g := NewWithT(t)
	if _, err := findEngine(t.Context()); err != nil {
		t.Skip(err)
	}
	asked := os.Getenv("K8S")
	if asked == "" {
		asked = "1.36"
	}
	nodeImage := os.Getenv("NODE_IMAGE")
	version, err := Kubernetes(asked, nodeImage)
	g.Expect(err).NotTo(HaveOccurred())
	c, err := build.Open(func(step string) { t.Log(step) })
	g.Expect(err).NotTo(HaveOccurred())
	clustertest.Verify(t, clustertest.Backend{
		Kubernetes: version, NodeImage: nodeImage,
		Start: func(ctx context.Context, o cluster.Options) (cluster.Cluster, error) { return Start(ctx, c, o) },
	})
}
