//go:build !linux || !(amd64 || arm64)

package clock

import (
	"context"
	"os/exec"
	"time"
)

// Supported reports whether clocks can be bent on this system.
const Supported = false

// Clock is the clock of this process and of the clusters that it starts.
type Clock struct{}

// New returns ErrSystem.
func New(context.Context, string) (*Clock, error) { return nil, ErrSystem }

// Wall returns the machine's wall clock.
func Wall() time.Time { return time.Now() }

// SelfTest returns ErrSystem.
func SelfTest(context.Context, string) error { return ErrSystem }

// These methods match those on Linux. New returns no Clock here.

func (*Clock) Start(cmd *exec.Cmd, _ time.Duration) (unbent, err error) {
	return ErrSystem, cmd.Start()
}
func (*Clock) Command(_, program string) []string                       { return []string{program} }
func (*Clock) Speed() float64                                           { return 1 }
func (*Clock) Govern(float64, bool)                                     {}
func (*Clock) Jump(context.Context, time.Duration, time.Duration) error { return ErrSystem }
func (*Clock) Hold() (release func())                                   { return func() {} }
func (*Clock) Break(error)                                              {}
func (*Clock) Err() error                                               { return nil }
func (*Clock) Lag() Lag                                                 { return Lag{} }
func (*Clock) Real() time.Duration                                      { return 0 }
