package local

import (
	"context"
	"errors"
	"fmt"
)

// StopAPIServer ends the API server by SIGKILL. That is no death until start has restarted it.
// etcd keeps running: stored data stays. The other components must not die meanwhile.
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

// startAPIServer restarts it unchanged, and returns when every component works.
func (l *local) startAPIServer(ctx context.Context) error {
	if l.clock != nil {
		// Other processes wait while it starts. At another speed they would give up.
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

// PauseKubelets pauses KWOK, which simulates the kubelets of all nodes but the host node. The
// harness is that node's kubelet. KWOK need not answer until resume.
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
