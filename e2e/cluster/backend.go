package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// Backend is a way to come by clusters. A new one is a package with a function that returns
// its Backend, and a line in the table of package e2e.
type Backend struct {
	// Name is what CLUSTER says, such as local.
	Name string
	// Kubernetes completes the version that o asks for, empty if it asks for none.
	Kubernetes func(o Options) (version string, err error)
	// Prepare makes sure that clusters can be started, and builds what they need.
	Prepare func(ctx context.Context, c *build.Cache, o Options) error
	// Start starts a cluster. If it fails, nothing is left but the logs.
	Start func(ctx context.Context, c *build.Cache, o Options) (Cluster, error)
	// Reap ends what dead runs left behind, and returns the names of the clusters, also if
	// it returns an error about others.
	Reap func(ctx context.Context, o Options) (removed []string, err error)
	// Guest is how to behave on a cluster that is somebody else's, of which there is but
	// one; nil: clusters are made.
	Guest *Guest

	Containers bool // its nodes run images whatever this machine's system is
	NodeImages bool // its nodes are made of Options.NodeImage
	Bends      bool // its clusters can live by a clock of their own here
}

// Guest is what a backend does for which no cluster is made.
type Guest struct {
	// Look says all that is in the way, before anything is built. The image is the
	// provider's, empty if that is built.
	Look func(ctx context.Context, o Options, image string) error
	// Try makes sure that the cluster would take these objects, without storing any.
	Try func(ctx context.Context, kubeconfig string, objects []*unstructured.Unstructured) error
	// Namespace is where the provider goes, whatever its adapter says.
	Namespace string
}

// DefaultKubernetes is the minor version of clusters that are made.
const DefaultKubernetes = "1.36"
