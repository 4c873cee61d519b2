package session

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/install"
)

// A spec looks whether the controller lacks rights, without which it would wait in vain
// until its time is over: soon after it began, and then after twice as long each time,
// since it asks for the controller's pods and reads all that they have written.
const (
	rightsFirst  = 2 * time.Second
	rightsAtMost = 30 * time.Second
)

// rights tells what the API server refused the controller during a spec.
type rights struct {
	provider *install.Installed
	before   map[string]int // refusals in the controller's log when the spec began
}

func (s *Session) newRights(ctx context.Context) *rights {
	return &rights{provider: s.Provider, before: s.Provider.Denials(s.Provider.Log(ctx))}
}

// lacking says which rights were refused more than a number of times; nil if
// none were.
func (r *rights) lacking(ctx context.Context, times int) error {
	denied := r.provider.Denials(r.provider.Log(ctx))
	for what, n := range denied {
		if n-r.before[what] <= times {
			delete(denied, what)
		}
	}
	if len(denied) == 0 {
		return nil
	}
	return r.provider.Lacking(denied)
}

// watch calls stop with the rights that the controller is refused again and
// again, until ctx ends.
func (r *rights) watch(ctx context.Context, stop context.CancelCauseFunc) {
	for after := rightsFirst; ; after = min(2*after, rightsAtMost) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(after):
		}
		if err := r.lacking(ctx, 1); err != nil {
			stop(err)
			return
		}
	}
}
