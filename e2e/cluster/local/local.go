package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/hostnode"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

// grace is how long components get to end by themselves. None of their data needs to survive,
// and the API server would wait a minute for open watches.
const grace = 250 * time.Millisecond

// local is a running cluster.
type local struct {
	folder     *owned.Folder
	ports      *ports
	taken      map[string]int // the components' ports
	health     *http.Client   // for the components' health endpoints
	access     *rest.Config
	faults     *faults.Proxy // what pods take for the API server
	node       *hostnode.Node
	supervisor *supervisor
	programs   programs         // of this machine, by its own clock
	clock      *clock.Clock     // the clock of all processes; nil: the machine's
	components func() *starting // returns the means to start them and to wait for them

	another    func(context.Context) (cluster.Cluster, error) // starts one for Management
	management cluster.Cluster                                // nil without one

	closing sync.Mutex
	closed  bool
}

// Config returns the administrator's access.
func (l *local) Config() *rest.Config { return l.access }

// Kubeconfig returns the path of the administrator's kubeconfig. Close removes it.
func (l *local) Kubeconfig() string { return l.folder.Path("kubeconfig") }

// Port returns a free port of this machine: pods share its ports.
func (l *local) Port(int) (int, error) { return l.ports.take() }

// Load makes an image available to the pods of the host node.
func (l *local) Load(ctx context.Context, ref string) (string, error) { return l.node.Load(ctx, ref) }

// PodLog returns the output of the containers of a pod of the host node.
func (l *local) PodLog(ctx context.Context, namespace, pod string) (io.ReadCloser, error) {
	return l.node.PodLog(ctx, namespace, pod)
}

// Kill ends the containers of a pod of the host node as a crash does.
func (l *local) Kill(_ context.Context, namespace, pod string) error {
	return l.node.Kill(namespace, pod)
}

// Skew sets a pod's wall clock.
func (l *local) Skew(_ context.Context, namespace, pod string, ahead time.Duration) error {
	return l.node.Skew(namespace, pod, ahead)
}

// Management starts a second cluster of the same version and by the same clock.
func (l *local) Management(ctx context.Context) (cluster.Access, error) {
	second, err := l.another(ctx)
	if err != nil {
		return nil, err
	}
	l.closing.Lock()
	defer l.closing.Unlock()
	l.management = second
	return second, nil
}

// Close ends all processes of the cluster, and its management cluster, and removes its folder. It sends SIGTERM, and
// SIGKILL after a quarter of a second (pods: two seconds) or when ctx ends.
func (l *local) Close(ctx context.Context) error {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.closed {
		return nil
	}
	if l.supervisor != nil {
		l.supervisor.stop()
	}
	var err error
	if l.management != nil {
		err = l.management.Close(ctx)
	}
	if l.node != nil {
		err = errors.Join(err, l.node.Close(ctx))
	}
	if l.faults != nil {
		err = errors.Join(err, l.faults.Close())
	}
	if endErr := process.End(ctx, l.folder.Dir, grace); endErr != nil {
		// The folder stays as the proof of ownership: the next run tries again.
		return fmt.Errorf("close cluster %s: %w", l.folder.Name, errors.Join(err, endErr))
	}
	l.closed = true
	l.ports.release()
	if err = errors.Join(err, remove(ctx, l.folder)); err != nil {
		return fmt.Errorf("close cluster %s: %w", l.folder.Name, err)
	}
	return nil
}
