package local

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// beat is how often the components are looked at: a death is to be known
// within a second.
const beat = 200 * time.Millisecond

// supervisor watches the components, none of which anything else watches.
type supervisor struct {
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

func (s *supervisor) watch(ctx context.Context) {
	defer close(s.ended)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// In order of dependency: when etcd dies, others follow.
		for _, name := range components() {
			if p, ok := s.processes[name]; !ok || p.Alive() {
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
