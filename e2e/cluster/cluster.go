// Package cluster defines what the harness needs from a backend, which makes clusters.
//
// Each backend (local, kind, existing) is a package with a function that returns its Backend.
package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

// Options holds what cluster to start. The zero value of an optional field is its default.
type Options struct {
	Name       string       // unique on this machine; DNS label
	Kubernetes string       // full version, such as v1.36.3; with a NodeImage the minor version is enough
	NodeImage  string       // optional: image of kind's node; else kind's own for the version
	Kubeconfig string       // of an existing cluster: a file or a list of files; its current context is used
	Registry   string       // optional: its nodes pull this machine's images from here, such as registry.example/team
	Logs       string       // folder for the logs of components and of the provider's pods
	Progress   func(string) // optional: receives each step, in a few words
	OnDeath    func(Death)  // optional: called once, from another goroutine, for the first component that dies
	Clock      *clock.Clock // optional: the clock of all its processes; else the machine's

	// Leaps allows clock jumps of up to Leap instead of Step. Nodes then stay Ready for longer
	// than that without updates from their kubelets, and old revisions are kept.
	Leaps bool

	// Bare leaves out KWOK. Callers must simulate all kubelets but those of the system's
	// nodes.
	Bare bool
}

// Step and Leap bound one jump of a cluster's clock. What is renewed periodically must not
// expire within a jump; a node's lease is the shortest of these.
const (
	Step = 2 * time.Minute
	Leap = 12 * time.Hour
)

// Death is the end, or the hang, of a component while the cluster should have been running.
type Death struct {
	Component string        // such as kube-apiserver
	Silent    time.Duration // how long it has not answered; 0: it ended
	LastLines []string      // the end of its log
}

func (d Death) Error() string {
	if d.Silent > 0 {
		return fmt.Sprintf("%s has not answered for %.0f s", d.Component, d.Silent.Seconds())
	}
	return fmt.Sprintf("%s died", d.Component)
}

// First returns a function that calls onDeath, if not nil, for the first death within life.
func First(life context.Context, onDeath func(Death)) (report func(Death)) {
	var once sync.Once
	return func(d Death) {
		if onDeath != nil && life.Err() == nil {
			once.Do(func() { onDeath(d) })
		}
	}
}

// CRDs is the resource of CustomResourceDefinitions.
var CRDs = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// SystemTaint is the key of the taint that keeps workloads off the nodes of the system and of
// the provider's pod. Most charts of Karpenter's providers tolerate it.
const SystemTaint = "CriticalAddonsOnly"

// OwnerLabel is on everything that the harness puts on a cluster, with any backend. On a
// shared cluster it marks what must be removed at the end.
const OwnerLabel = "plumbline-e2e.github.io/owned"

// Own puts the OwnerLabel on an object.
func Own(o metav1.Object) {
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[OwnerLabel] = "true"
	o.SetLabels(labels)
}

// BinaryPrefix begins a reference to an executable of this machine: "binary:" and a path. Load
// takes it instead of an image where images can't run.
const BinaryPrefix = "binary:"

// Access is the administrator's access to a cluster.
type Access interface {
	// Config returns the client configuration; callers copy it before they change it.
	Config() *rest.Config
	// Kubeconfig returns the path of a kubeconfig. If the backend made the cluster, its mode
	// is 0600 and Close removes it.
	Kubeconfig() string
}

// Cluster is a running cluster with a place for the provider's pod.
type Cluster interface {
	Access
	// Load makes an image available to pods and returns its name for manifests. The reference
	// is one that image.Open understands, or an executable (see BinaryPrefix).
	Load(ctx context.Context, ref string) (name string, err error)
	// Port returns a port on which a pod of this cluster can listen: a free port of the host
	// if pods share the host's ports, else preferred.
	Port(preferred int) (int, error)
	// PodLog returns the output of the pod's containers so far, restarts included.
	PodLog(ctx context.Context, namespace, pod string) (io.ReadCloser, error)
	// Close ends everything that Start started. It is safe to call twice.
	Close(ctx context.Context) error
}

// Manager is a cluster that can have a management cluster. Providers that need one can't be
// installed elsewhere.
type Manager interface {
	// Management starts a second cluster, which has no nodes but the system's, and returns the
	// access to it. Pods of the first can reach it. Close ends both. It may be called once.
	Management(ctx context.Context) (Access, error)
}

// Killer is a cluster that can make a pod crash. Specs that need it are skipped elsewhere.
type Killer interface {
	// Kill ends the containers of a pod by SIGKILL and returns when their processes are gone.
	// The node restarts them and counts the restarts, as after any crash.
	Kill(ctx context.Context, namespace, pod string) error
}

// Skewer is a cluster whose pods can have wall clocks of their own. Specs that need it are skipped elsewhere.
type Skewer interface {
	// Skew sets how far the wall clocks of a pod's containers are ahead of the cluster's, from their next start on. The
	// error says why that can't be.
	Skew(ctx context.Context, namespace, pod string, ahead time.Duration) error
}

// Imaged is a cluster whose nodes were made from an image.
type Imaged interface {
	// NodeImage returns the image's name and its ID at that time.
	NodeImage() string
}

// Stopper is a cluster that can stop its API server. Specs that need it are skipped elsewhere.
type Stopper interface {
	// StopAPIServer ends the API server as a crash does, but without a Death. Callers must
	// call start, which restarts it with all stored data and returns when it is ready.
	StopAPIServer(ctx context.Context) (start func(context.Context) error, err error)
}

// Scheduling is a cluster whose kube-scheduler can work elsewhere too. Where there is none, nobody
// can be asked where pods would fit.
type Scheduling interface {
	// RunScheduler runs a kube-scheduler of the cluster's version until ctx ends. It uses the
	// API server of a kubeconfig, which need not be the cluster's, and the machine's clock.
	RunScheduler(ctx context.Context, kubeconfig []byte) error
}

// Interposed is a cluster with a proxy between its pods and the API server. Specs that need it are skipped elsewhere.
type Interposed interface {
	// Faults returns the proxy, by which requests of pods fail on purpose.
	Faults() *faults.Proxy
}

// Pauser is a cluster that can pause kubelets. Specs that need it are skipped elsewhere.
type Pauser interface {
	// PauseKubelets pauses the kubelets of all nodes that the provider launches, in the middle
	// of their work. Callers may call resume at any time.
	PauseKubelets(ctx context.Context) (resume func() error, err error)
}
