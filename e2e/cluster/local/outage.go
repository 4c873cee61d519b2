package local

import (
	"context"
	"errors"
	"fmt"
)

// StopAPIServer ends the API server by SIGKILL, which is nobody's death until
// start, which is returned, has started it again. Etcd goes on: what was stored
// stays, and nobody can store anything meanwhile. The other components have to
// cope, and dying is a death as ever.
func (l *local) StopAPIServer(context.Context) (start func(context.Context) error, err error) {
	running, watched := l.supervisor.release(apiserver)
	if !watched {
		return nil, errors.New("the API server has been stopped already")
	}
	if err := running.Kill(); err != nil {
		return nil, fmt.Errorf("stop the API server: %w", err)
	}
	return l.startAPIServer, nil
}

// startAPIServer starts it as it was, and returns when every component works.
func (l *local) startAPIServer(ctx context.Context) error {
	if l.clock != nil {
		// It works while others wait for it, who would give up at another speed.
		defer l.clock.Hold()()
	}
	s := l.components()
	err := s.restart(ctx, apiserver)
	if err != nil {
		return fmt.Errorf("start the API server again: %w", err)
	}
	processes, err := s.ready(ctx)
	if err != nil {
		return fmt.Errorf("start the API server again: %w", err)
	}
	l.supervisor.resume(apiserver, processes[apiserver])
	return nil
}

// PauseKubelets stops the process that plays the kubelets of all nodes but the
// host node, whose kubelet is the harness. Until resume it need not answer.
func (l *local) PauseKubelets(context.Context) (resume func() error, err error) {
	kubelets, watched := l.supervisor.release(kwokController)
	if !watched {
		return nil, errors.New("the kubelets have been paused already")
	}
	resume = func() error {
		defer l.supervisor.resume(kwokController, kubelets)
		return kubelets.Resume()
	}
	if err := kubelets.Pause(); err != nil {
		return nil, errors.Join(fmt.Errorf("pause the kubelets: %w", err), resume())
	}
	return resume, nil
}
