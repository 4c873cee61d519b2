package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// grace is how long components get to end by themselves.
const grace = 2 * time.Second

// local is a running cluster.
type local struct {
	folder     *folder
	ports      *ports
	access     *rest.Config
	supervisor *supervisor

	closing sync.Mutex
	closed  bool
}

// Config is the administrator's access.
func (l *local) Config() *rest.Config { return l.access }

// Kubeconfig is the path of a kubeconfig with the administrator's access, for
// kubectl. It's gone when the cluster is.
func (l *local) Kubeconfig() string { return l.folder.path("kubeconfig") }

// Port returns a free port of this machine: pods share its ports.
func (l *local) Port(int) (int, error) { return l.ports.take() }

// Load makes an image available to the pods of the host node.
func (l *local) Load(_ context.Context, ref string) (string, error) {
	return "", fmt.Errorf("load image %s: the host node isn't there", ref)
}

// PodLog is what the containers of a pod of the host node have written.
func (l *local) PodLog(_ context.Context, namespace, pod string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("log of pod %s/%s: the host node isn't there", namespace, pod)
}

// Close ends all processes of the cluster and removes its folder. It asks them
// first, and kills what is left after two seconds, or at once if ctx is over.
func (l *local) Close(ctx context.Context) error {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.closed {
		return nil
	}
	if l.supervisor != nil {
		l.supervisor.stop()
	}
	if err := l.end(ctx); err != nil {
		// The folder stays, as the proof of whose they are: the next run tries again.
		return fmt.Errorf("close cluster %s: %w", l.folder.name, err)
	}
	l.closed = true
	l.ports.release()
	if err := l.folder.remove(); err != nil {
		return errors.Join(fmt.Errorf("close cluster %s: %w", l.folder.name, err))
	}
	return nil
}
