// Package cluster is what the harness asks of the thing that makes clusters.
//
// A backend (local, kind, existing) is a package with a function that returns its Backend.
package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
)

// Options say which cluster to start. The zero value of an optional field is
// its default.
type Options struct {
	Name       string       // unique on this machine; DNS label
	Kubernetes string       // full version, such as v1.36.3; with a NodeImage the minor one will do
	NodeImage  string       // optional: what kind's node is made of; else what kind has for the version
	Kubeconfig string       // of a cluster that exists: file, or a list of them; its current context counts
	Registry   string       // optional: where that cluster's nodes get images from that this machine has, such as registry.example/team
	Logs       string       // folder that receives the logs of components and of the provider's pods
	Progress   func(string) // optional: told what is being done, in a few words
	OnDeath    func(Death)  // optional: called once, from another goroutine, for the first component that dies
	Clock      *clock.Clock // optional: what all its processes live by; else the machine's

	// Leaps says that the clock will be moved by up to Leap at once, not Step: nodes then stay
	// Ready for longer than that without a word of their kubelets, and old revisions are kept.
	Leaps bool

	// Bare leaves out KWOK: all nodes but the system's are somebody else's to play.
	Bare bool
}

// How far a cluster's clock may be moved at once. What is renewed all the time must
// not be over before it can be: a node's lease is the shortest of that.
const (
	Step = 2 * time.Minute
	Leap = 12 * time.Hour
)

// Death tells of a component that ended, or hangs, while the cluster should have been running.
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

// First returns a function that calls onDeath, which may be nil, for the first death. It
// ignores the others, and all after the end of life.
func First(life context.Context, onDeath func(Death)) (report func(Death)) {
	var once sync.Once
	return func(d Death) {
		if onDeath != nil && life.Err() == nil {
			once.Do(func() { onDeath(d) })
		}
	}
}

// SystemTaint is the key of the taint that keeps workloads off the nodes that the system
// and the provider's pod run on, which the charts of Karpenter's providers tolerate.
const SystemTaint = "CriticalAddonsOnly"

// OwnerLabel is on all that is put on a cluster, whatever the backend: on one that others
// use too, it tells what is to be removed in the end from all that is to be left alone.
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

// BinaryPrefix begins a reference to an executable of this machine, which
// Load takes in place of an image where images can't run: "binary:" and a path.
const BinaryPrefix = "binary:"

// Access is the administrator's access to a cluster.
type Access interface {
	// Config returns the access for programs; callers copy it before they change it.
	Config() *rest.Config
	// Kubeconfig returns a file for kubectl, mode 0600; it is gone when the cluster is.
	Kubeconfig() string
}

// Cluster is a running cluster with a place for the provider's pod.
type Cluster interface {
	Access
	// Load makes an image (a reference that image.Open understands, or an
	// executable, see BinaryPrefix) available to pods and returns the name under
	// which manifests refer to it.
	Load(ctx context.Context, ref string) (name string, err error)
	// Port returns a port on which a pod of this cluster can listen: a free
	// one of the host where pods share the host's ports, else preferred.
	Port(preferred int) (int, error)
	// PodLog returns what the pod's containers have written so far, restarts included.
	PodLog(ctx context.Context, namespace, pod string) (io.ReadCloser, error)
	// Close ends everything that Start started. It is safe to call twice.
	Close(ctx context.Context) error
}

// Killer is a cluster whose backend can make a pod crash. Specs that need it are
// skipped where the backend can't.
type Killer interface {
	// Kill ends the containers of a pod by SIGKILL and returns when their processes
	// are gone. Its node restarts and counts them as it does after any crash.
	Kill(ctx context.Context, namespace, pod string) error
}

// Imaged is a cluster whose nodes were made of an image.
type Imaged interface {
	// NodeImage returns the image's name, and its ID at that time.
	NodeImage() string
}

// Stopper is a cluster whose backend can take the API server away. Specs that
// need it are skipped where the backend can't.
type Stopper interface {
	// StopAPIServer ends the API server as a crash does. Start, which must be called,
	// brings it back with all that was stored, and returns when it is ready. That it
	// is away in between is no Death.
	StopAPIServer(ctx context.Context) (start func(context.Context) error, err error)
}

// Pauser is a cluster whose backend can make kubelets fall silent. Specs that
// need it are skipped where the backend can't.
type Pauser interface {
	// PauseKubelets silences the kubelets of all nodes that the provider launches, in
	// the middle of what they do, until resume: they may be told to go on at any time.
	PauseKubelets(ctx context.Context) (resume func() error, err error)
}
