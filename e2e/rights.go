package e2e

import (
	"context"
	"time"
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
	session *Session
	before  map[string]int // refusals in the controller's log when the spec began
}

func (s *Session) newRights(ctx context.Context) *rights {
	return &rights{session: s, before: s.Provider.Denials(s.logLines(ctx))}
}

// lacking says which rights were refused more than a number of times; nil if
// none were.
func (r *rights) lacking(ctx context.Context, times int) error {
	denied := r.session.Provider.Denials(r.session.logLines(ctx))
	for what, n := range denied {
		if n-r.before[what] <= times {
			delete(denied, what)
		}
	}
	if len(denied) == 0 {
		return nil
	}
	return r.session.Provider.Lacking(denied)
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
