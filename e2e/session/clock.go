package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// processClock is the only clock that this process can have, or why there is none.
var processClock struct { //nolint:gochecknoglobals // see above
	sync.Mutex
	fit   bool // the self-test has passed
	tried bool
	clock *clock.Clock
	err   error
}

// bendProcess bends the clock of this process on the first call.
func bendProcess(ctx context.Context, c *build.Cache) (*clock.Clock, error) {
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

// prepareClock tests whether clocks can be bent here, if needed. If not, it reports that and
// sets speed 1.
func (p *Plan) prepareClock(ctx context.Context) error {
	if !p.Setup.Speed.Bent() || p.Setup.Tried {
		return nil
	}
	shim, err := clock.Shim(ctx, p.Cache)
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
		p.Setup.Progress(fmt.Sprintf("the clock runs at speed 1: %v", err))
		p.Setup.Speed = clock.Speed{Limit: 1}
		return nil
	}
	processClock.fit = true
	return nil
}

// attachClock gives the session this process's clock, if that can be bent. It holds the clock
// at speed 1 until release is called.
func (s *Session) attachClock(ctx context.Context, p *Plan) (release func()) {
	bent, err := bendProcess(ctx, p.Cache)
	if err != nil {
		p.Setup.Progress(fmt.Sprintf("the clock runs at speed 1: %v", err))
		return func() {}
	}
	release = bent.Hold()
	stride := cluster.Step
	if p.Leaps {
		stride = cluster.Leap
	}
	s.Clock = bent
	s.Jump = func(ctx context.Context, d time.Duration) error { return bent.Jump(ctx, d, stride) }
	bent.Govern(s.setup.Speed.Limit, !s.setup.Speed.Auto)
	return release
}

// SlowDown limits the clock to an eighth of its maximum speed until restore is called.
func (s *Session) SlowDown() (restore func()) {
	s.Clock.Govern(max(1, s.setup.Speed.Limit/8), !s.setup.Speed.Auto)
	return func() { s.Clock.Govern(s.setup.Speed.Limit, !s.setup.Speed.Auto) }
}

// measureReal measures a spec's real time until ended is called.
func (s *Session) measureReal(o *report.Outcome) (ended func()) {
	if s.Clock == nil {
		return func() {}
	}
	s.Clock.Lag()
	began := s.Clock.Real()
	return func() { o.Real = s.Clock.Real() - began }
}

// checkLag makes the verdict infra if processes were so late that this may be the cause.
func (s *Session) checkLag(o *report.Outcome) {
	if s.Clock == nil {
		return
	}
	judgeLag(o, s.Clock.Lag())
	if err := s.Clock.Err(); err != nil {
		o.Note = strings.TrimSpace(fmt.Sprintf("%s the clock runs at speed 1: %v", o.Note, err))
	}
}

// judgeLag makes the verdict infra if a lag is above clock.MaxLag.
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
