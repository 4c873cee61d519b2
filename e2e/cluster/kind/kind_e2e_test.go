//go:build e2e

package kind

import (
	"cmp"
	"context"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/clustertest"
)

// selected returns the version of Kubernetes and the image that the environment asks for. It
// skips the test if no engine runs.
func selected(t *testing.T) (version, nodeImage string) {
	t.Helper()
	if _, err := findEngine(t.Context()); err != nil {
		t.Skip(err)
	}
	nodeImage = os.Getenv("NODE_IMAGE")
	version, err := Kubernetes(cmp.Or(os.Getenv("K8S"), "1.36"), nodeImage)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return version, cmp.Or(nodeImage, nodeImages()[version])
}

// TestWhatEveryBackendDoes uses the Kubernetes version K8S and the image NODE_IMAGE.
func TestWhatEveryBackendDoes(t *testing.T) {
	version, nodeImage := selected(t)
	g := NewWithT(t)
	c, err := build.Open(func(step string) { t.Log(step) })
	g.Expect(err).NotTo(HaveOccurred())
	clustertest.Verify(t, clustertest.Backend{
		Kubernetes: version, NodeImage: nodeImage,
		Start: func(ctx context.Context, o cluster.Options) (cluster.Cluster, error) { return Start(ctx, c, o) },
	})
}
