package e2e

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Speed is how fast clusters' clocks run, in cluster time per real time.
type Speed struct {
	Limit float64 // 1: the machine's own clock
	Auto  bool    // as fast as the machine allows, up to the limit
}

// fastest is how fast a clock may be that is left to itself, on average: clusters
// don't wait long enough for more, and what isn't bent gets its time too.
const fastest = 60

// Bent tells whether it takes a clock of the cluster's own.
func (s Speed) Bent() bool { return s.Limit != 1 }

// clusterMemory is what a cluster with a provider takes while specs run on it, in
// bytes: 0.6 GB when it's up, or 0.75 where time is bent, and more with pods and their
// history.
const clusterMemory = 1 << 30

// procs is how many clusters keep so many CPUs busy, and find room in so much
// available memory, in bytes; 0: that is unknown. Specs wait more than they compute,
// unless time is bent: then they compute all the time.
func (s Speed) procs(cpus int, memory uint64) int {
	n := min(8, 3*cpus)
	if s.Bent() {
		n = min(8, cpus+1)
	}
	if room := memory / clusterMemory; memory > 0 && room < uint64(n) {
		n = max(1, int(room))
	}
	return n
}

// availableMemory is what programs that start now can have without others being
// swapped out, in bytes; 0 where the system doesn't say, as Linux does.
func availableMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line) // such as MemAvailable: 123456 kB
		if len(fields) > 1 && fields[0] == "MemAvailable:" {
			kilobytes, _ := strconv.ParseUint(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

func (s Speed) String() string {
	if s.Auto {
		return "auto"
	}
	return strconv.FormatFloat(s.Limit, 'f', -1, 64)
}

// speed reads a speed: auto, or a number from 1 up.
func speed(name string, b cluster.Backend) (Speed, error) {
	v := os.Getenv(name)
	s := Speed{Limit: fastest, Auto: true}
	switch {
	case v == "" && !b.Bends:
		return Speed{Limit: 1}, nil
	case v != "" && v != "auto":
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= 1 && n <= 1000) {
			return Speed{}, fmt.Errorf("%s=%s: neither auto nor a number from 1 to 1000", name, v)
		}
		s = Speed{Limit: n}
	}
	if s.Bent() && !b.Bends {
		return s, fmt.Errorf("%s=%s: clocks of %s clusters on %s/%s can't be bent: say 1", name, s, b.Name, runtime.GOOS, runtime.GOARCH)
	}
	return s, nil
}

// processClock is the clock of this process, of which there can be but one, or
// why there is none.
var processClock struct { //nolint:gochecknoglobals // see above
	sync.Mutex
	fit   bool // the self-test has passed
	tried bool
	clock *clock.Clock
	err   error
}

// theClock bends the clock of this process when it is called for the first time.
func theClock(ctx context.Context, c *build.Cache) (*clock.Clock, error) {
	p := &processClock
	p.Lock()
	defer p.Unlock()
	if p.tried {
		return p.clock, p.err
	}
	p.tried = true
	shim, err := clock.Shim(ctx, c)
	if err == nil {
		p.clock, err = clock.New(ctx, shim)
	}
	p.err = err
	return p.clock, p.err
}

// prepareClock tries whether clocks can be bent here, if they are to be. If not,
// that is said, and the plan is for speed 1.
func (p *Plan) prepareClock(ctx context.Context) error {
	if !p.Config.Speed.Bent() || p.Config.tried {
		return nil
	}
	shim, err := clock.Shim(ctx, p.cache)
	if err != nil {
		return err
	}
	processClock.Lock()
	defer processClock.Unlock()
	if processClock.fit {
		return nil
	}
	if err := clock.SelfTest(ctx, shim); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.progress(fmt.Sprintf("the clock runs at speed 1: %v", err))
		p.Config.Speed = Speed{Limit: 1}
		return nil
	}
	processClock.fit = true
	return nil
}

// slowDown lets the clock run at most an eighth as fast as it may until restore is called.
func (s *Session) slowDown() (restore func()) {
	s.Clock.Govern(max(1, s.speed.Limit/8), !s.speed.Auto)
	return func() { s.Clock.Govern(s.speed.Limit, !s.speed.Auto) }
}

// measureReal notes how long a spec takes in real time, until ended is called.
func (s *Session) measureReal(o *report.Outcome) (ended func()) {
	if s.Clock == nil {
		return func() {}
	}
	s.Clock.Lag()
	began := s.Clock.Real()
	return func() { o.Real = s.Clock.Real() - began }
}

// checkLag makes the verdict infra if processes were so late that it may be due to that.
func (s *Session) checkLag(o *report.Outcome) {
	if s.Clock == nil {
		return
	}
	judgeLag(o, s.Clock.Lag())
	if err := s.Clock.Err(); err != nil {
		o.Note = strings.TrimSpace(fmt.Sprintf("%s the clock runs at speed 1: %v", o.Note, err))
	}
}

// judgeLag makes the verdict infra if a lag is more than counts.
func judgeLag(o *report.Outcome, lag clock.Lag) {
	o.Lag = lag.Late
	if lag.Late <= clock.MaxLag || o.Verdict == report.Skipped {
		return
	}
	reason := fmt.Sprintf("the clock ran too fast: %s was %s late, of the cluster's time, and up to %s counts",
		lag.Process, lag.Late.Round(10*time.Millisecond), clock.MaxLag)
	if o.Verdict != report.Passed {
		o.Detail = strings.TrimSpace(string(o.Verdict) + ": " + o.Reason + "\n" + o.Detail)
	}
	o.Verdict, o.Reason = report.Infra, reason
}

// Jump moves the clock of the session's cluster ahead, see clock.Jump.
func (s *Session) Jump(ctx context.Context, d time.Duration) error {
	return s.Clock.Jump(ctx, d, s.stride)
}
