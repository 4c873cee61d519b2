package local

import (
	"context"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// pollInterval is how often the components are checked, to detect a death within a second.
const pollInterval = 500 * time.Millisecond

// supervisor is the watch over the components; nothing else watches them.
type supervisor struct {
	mu        sync.Mutex
	processes map[string]process.Process
	logFile   func(component string) string
	onDeath   func(cluster.Death) // called once, from a goroutine of its own

	cancel context.CancelFunc
	ended  chan struct{}
}

// supervise starts the watch, until the first death or stop.
func supervise(ctx context.Context, s *supervisor) *supervisor {
	// The cluster outlives the call that started it.
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.ended = make(chan struct{})
	go s.watch(ctx)
	return s
}

// stop ends the watch. Later deaths are ignored.
func (s *supervisor) stop() {
	s.cancel()
	<-s.ended
}

// process returns a component's process, if it is watched.
func (s *supervisor) process(component string) (process.Process, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.processes[component]
	return p, ok
}

// release stops watching a component, so that it may end or hang until resume.
func (s *supervisor) release(component string) (process.Process, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.processes[component]
	delete(s.processes, component)
	return p, ok
}

// resume watches a component's new process.
func (s *supervisor) resume(component string, p process.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[component] = p
}

func (s *supervisor) watch(ctx context.Context) {
	defer close(s.ended)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// In order of dependency: when etcd dies, others follow.
		for _, name := range components() {
			if p, ok := s.process(name); !ok || p.Alive() {
				continue
			}
			if ctx.Err() == nil && s.onDeath != nil {
				// In a goroutine, because it may close the cluster.
				go s.onDeath(cluster.Death{Component: name, LastLines: lastLines(s.logFile(name), tailLines)})
			}
			return
		}
	}
}
