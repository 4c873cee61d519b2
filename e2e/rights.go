package e2e

import (
	"context"
	"time"
)

// rightsEvery is how often a spec looks whether the controller lacks rights:
// without them it would wait in vain until its time is over.
const rightsEvery = 2 * time.Second

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
	tick := time.NewTicker(rightsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := r.lacking(ctx, 1); err != nil {
			stop(err)
			return
		}
	}
}
