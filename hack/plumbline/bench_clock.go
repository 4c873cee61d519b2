package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/session"
)

// benchClock measures the cost and gain of bent time on an idle cluster. It returns nothing
// where time can't be bent.
func benchClock(ctx context.Context, plan *session.Plan, scratch string) (figures []figure, err error) {
	name := fmt.Sprintf("bench-%d-clock", os.Getpid())
	s, err := plan.Start(ctx, name, filepath.Join(scratch, name))
	if err != nil || s.Clock == nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	add := func(name, unit string, value float64) {
		figures = append(figures, figure{Name: name, Value: value, Unit: unit})
	}

	megabytes, err := residentMemory(ctx, name)
	if err != nil {
		return nil, err
	}
	add("resident memory of a bent cluster and provider", "MB", megabytes)

	const times = 1_000_000
	release := s.Clock.Hold()
	began := s.Clock.Real()
	for range times {
		_ = time.Now()
	}
	add("time.Now of a bent process", "ns", float64(s.Clock.Real()-began)/times)
	release()

	const wait = 5 * time.Minute
	began = s.Clock.Real()
	idle := time.NewTimer(wait)
	defer idle.Stop()
	select {
	case <-idle.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	add("speed of an idle cluster, governed", "", wait.Seconds()/(s.Clock.Real()-began).Seconds())
	add("its worst lag", "ms of its own", float64(s.Clock.Lag().Late.Milliseconds()))

	const ahead = time.Hour
	began = s.Clock.Real()
	if err := s.Jump(ctx, ahead); err != nil {
		return nil, err
	}
	add("an hour, by jumps", "s", (s.Clock.Real() - began).Seconds())
	return figures, s.Err()
}
