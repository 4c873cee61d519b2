package existing

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/pods"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// ProviderNamespace is the provider's namespace; it overrides the adapter's.
const ProviderNamespace = "plumbline-provider"

// systemNamespace is for KWOK and the lease, specsNamespace for specs.
const (
	systemNamespace = "plumbline-system"
	specsNamespace  = "plumbline"
)

func ownNamespaces() []string { return []string{systemNamespace, ProviderNamespace, specsNamespace} }

// existing is a cluster with the harness's KWOK on it.
type existing struct {
	*clients
	kubeconfig string
	registry   string
	logs       string // folder for the logs, empty for none
	release    func() // releases the lease
	stop       context.CancelFunc
	watched    sync.WaitGroup   // goroutines that stop ends
	seen       sets.Set[string] // names of all fake nodes so far; only the watch uses it until it has ended

	closing sync.Mutex
	closed  bool
}

// Config returns the access from the kubeconfig.
func (e *existing) Config() *rest.Config { return e.config }

// Kubeconfig returns the user's own kubeconfig.
func (e *existing) Kubeconfig() string { return e.kubeconfig }

// Port returns preferred, because pods have their own addresses.
func (e *existing) Port(preferred int) (int, error) { return preferred, nil }

// Components lists the API server, the only component that can be reached from here.
func (e *existing) Components() []cluster.Component {
	return []cluster.Component{cluster.APIServer(e.typed)}
}

// Load pushes an image into the registry that the nodes pull from. Without one, it names an
// image that is in some registry by its digest.
func (e *existing) Load(ctx context.Context, ref string) (string, error) {
	if e.registry != "" && !strings.HasPrefix(ref, cluster.BinaryPrefix) {
		return image.Push(ctx, ref, e.registry)
	}
	if err := errors.Join(unpullable(e.registry, ref)...); err != nil {
		return "", err
	}
	return image.Pinned(ctx, ref)
}

// PodLog returns the output of a pod's containers, see pods.Log.
func (e *existing) PodLog(ctx context.Context, namespace, name string) (io.ReadCloser, error) {
	return pods.Log(ctx, e.typed, namespace, name)
}

// Close writes the logs and removes everything that the harness owns.
func (e *existing) Close(ctx context.Context) error {
	e.closing.Lock()
	defer e.closing.Unlock()
	if e.closed {
		return nil
	}
	e.stop()
	e.watched.Wait()
	err := e.writeLogs(ctx)
	if gone := e.remove(ctx); gone != nil {
		return errors.Join(err, gone)
	}
	e.closed = true
	return err
}

// writeLogs writes the logs of the pods of KWOK and the provider.
func (e *existing) writeLogs(ctx context.Context) error {
	if e.logs == "" {
		return nil
	}
	return errors.Join(
		pods.WriteLogs(ctx, e.typed, systemNamespace, e.logs), pods.WriteLogs(ctx, e.typed, ProviderNamespace, e.logs))
}
