package session

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/install"
)

// A spec checks whether the controller lacks rights; otherwise it would wait in vain until its
// timeout. Each interval is twice as long as the last, because a check lists the controller's
// pods and reads their whole logs.
const (
	rightsFirst  = 2 * time.Second
	rightsAtMost = 30 * time.Second
)

// rights holds what the API server refused the controller before a spec.
type rights struct {
	provider *install.Installed
	before   map[string]int // refusals in the controller's log when the spec began
}

func (s *Session) newRights(ctx context.Context) *rights {
	return &rights{provider: s.Provider, before: s.Provider.Denials(s.Provider.Log(ctx))}
}

// refusedMoreThan returns an error with the rights refused more often than times, or nil.
func (r *rights) refusedMoreThan(ctx context.Context, times int) error {
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

// watch calls stop with the rights that the controller is refused repeatedly, until ctx ends.
func (r *rights) watch(ctx context.Context, stop context.CancelCauseFunc) {
	for after := rightsFirst; ; after = min(2*after, rightsAtMost) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(after):
		}
		if err := r.refusedMoreThan(ctx, 1); err != nil {
			stop(err)
			return
		}
	}
}
