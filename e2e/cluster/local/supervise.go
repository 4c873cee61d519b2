package local

import (
	"context"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// pollInterval is how often the components are looked at: a death is to be known
// within a second.
const pollInterval = 500 * time.Millisecond

// supervisor watches the components, none of which anything else watches.
type supervisor struct {
	mu        sync.Mutex
	processes map[string]process.Process
	logFile   func(component string) string
	onDeath   func(cluster.Death) // called once, from a goroutine of its own

	cancel context.CancelFunc
	ended  chan struct{}
}

// supervise starts watching. It ends with the first death, or with stop.
func supervise(ctx context.Context, s *supervisor) *supervisor {
	// The cluster outlives the call that started it.
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.ended = make(chan struct{})
	go s.watch(ctx)
	return s
}

// stop ends the watch: deaths after it are nobody's concern.
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

// release lets a component end, or be silent, without that being a death, until it is resumed.
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
				// Its own goroutine, since it may well close the cluster.
				go s.onDeath(cluster.Death{Component: name, LastLines: lastLines(s.logFile(name), tailLines)})
			}
			return
		}
	}
}
