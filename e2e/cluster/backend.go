package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// Backend is one way to get clusters. A new backend needs a package with a function that
// returns its Backend, and a line in the table of package e2e.
type Backend struct {
	// Name is the value of CLUSTER, such as local.
	Name string
	// Kubernetes completes the version in o, which may be empty.
	Kubernetes func(o Options) (version string, err error)
	// Prepare checks that clusters can be started, and builds what they need.
	Prepare func(ctx context.Context, c *build.Cache, o Options) error
	// Start starts a cluster. If it fails, only the logs are left.
	Start func(ctx context.Context, c *build.Cache, o Options) (Cluster, error)
	// Reap removes what dead runs left behind. It returns the names of their clusters, even
	// with an error about others.
	Reap func(ctx context.Context, o Options) (removed []string, err error)
	// Guest is set if the backend uses the one existing cluster; nil: it makes clusters.
	Guest *Guest

	Containers bool // its nodes run images on any operating system of this machine
	NodeImages bool // its nodes are made from Options.NodeImage
	Services   bool // its API server reaches Services, and so webhooks
	Bends      bool // its clusters can have a clock of their own on this machine
}

// Guest holds what a backend does on a cluster that it did not make.
type Guest struct {
	// Look returns everything that prevents a run, before anything is built. The image is the
	// provider's; it is empty if the image is built here.
	Look func(ctx context.Context, o Options, image string) error
	// Try checks that the cluster would accept these objects, without storing any.
	Try func(ctx context.Context, kubeconfig string, objects []*unstructured.Unstructured) error
	// Namespace is the provider's namespace; it overrides the adapter's.
	Namespace string
}

// DefaultKubernetes is the default minor version of new clusters.
const DefaultKubernetes = "1.36"
