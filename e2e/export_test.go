//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Inert is a spec of whose requests some are left out: each is answered as if
// all were well, and nothing happens. From the first of them on the spec waits
// no longer than until the cluster is at rest, for what will not come, and goes
// on to its claims with what there is.
type Inert struct {
	Spec     *Spec
	LeaveOut func(*http.Request) bool
	Quiet    time.Duration // the cluster is at rest when nothing was recorded for so long
	LeftOut  int           // requests, in the last run

	asked time.Time // when the last request was not left out
}

// Inerted is the spec to run in place of the real one.
func (i *Inert) Inerted() *Spec {
	spec := *i.Spec
	spec.Known, spec.Within = nil, 5*time.Minute // it need not be quick
	spec.Run = i.run
	return &spec
}

// run is the spec's body. A spec whose claims all hold although its waits were
// cut short fails, as it would without any of this: it must not look like one
// that passed.
func (i *Inert) run(ctx context.Context, env *Env) {
	i.LeftOut = 0
	client, recorder := env.session.client, env.recorder
	defer func() { env.session.client, env.recorder = client, recorder }() // the clean-up leaves nothing out

	config := rest.CopyConfig(env.session.Cluster.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return leavingOut{next, i} })
	var err error
	if env.session.client, err = dynamic.NewForConfig(config); err != nil {
		env.fail(ctx, "a client that leaves requests out: %w", err)
	}
	hasty := &hasty{recording: recorder, inert: i}
	env.recorder = hasty
	if i.untilNothingIsThere(ctx, env) && hasty.cut > 0 {
		env.Fail("its claims hold, though %d of its waits were cut short", hasty.cut)
	}
}

// untilNothingIsThere runs the spec up to where it takes the first of the objects
// that it waited for and none came: there it can't go on, and has claimed
// nothing. It tells whether the spec came to its end.
func (i *Inert) untilNothingIsThere(ctx context.Context, env *Env) (ended bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			if !strings.Contains(r.Error(), "index out of range [0] with length 0") {
				panic(r)
			}
		default:
			panic(r)
		}
	}()
	i.Spec.Run(ctx, env)
	return true
}

// leavingOut answers the requests that are left out in the API server's place.
type leavingOut struct {
	next  http.RoundTripper
	inert *Inert
}

// RoundTrip answers a request, or passes it on.
func (l leavingOut) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.inert.LeaveOut(r) {
		l.inert.asked = time.Now()
		return l.next.RoundTrip(r)
	}
	l.inert.LeftOut++
	if r.Body != nil {
		if err := r.Body.Close(); err != nil {
			return nil, fmt.Errorf("a request that is left out: %w", err)
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(`{"apiVersion":"v1","kind":"Status","status":"Success"}`)),
		Request:    r,
	}, nil
}

// hasty waits for what still happens, and not for what has been left out.
type hasty struct {
	recording
	inert *Inert
	cut   int // waits that ended without what was waited for
}

// Await waits as ever until something has been left out, and from then on no
// longer than until the cluster is at rest. It claims that all is well then.
func (h *hasty) Await(ctx context.Context, pred func(*history.World) bool) error {
	for h.inert.LeftOut > 0 {
		window, cancel := context.WithDeadline(ctx, h.stirred().Add(h.inert.Quiet))
		err := h.recording.Await(window, pred)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case time.Since(h.stirred()) >= h.inert.Quiet:
			h.cut++
			return nil
		}
	}
	return h.recording.Await(ctx, pred)
}

// stirred is when something last happened: an event, or a request of the spec.
func (h *hasty) stirred() time.Time {
	event := h.History().End().Time()
	if h.inert.asked.After(event) {
		return h.inert.asked
	}
	return event
}
