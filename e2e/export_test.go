//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Inert is a spec of whose requests some are left out: each is answered as if
// all were well, and nothing happens. From the first of them on the spec waits
// no longer than until the cluster is at rest, for what will not come, and goes
// on to its claims with what there is.
type Inert struct {
	Spec      *Spec
	Without   string                          // what is left out, before the spec's ID
	LeaveOut  func() func(*http.Request) bool // anew for each run
	Quiet     time.Duration                   // the cluster is at rest when nothing was recorded for so long
	NoneHolds bool                            // not one of its claims may hold, also beside others that don't
	Lifts     bool                            // its claims hold all the same, and only its waits are cut short

	leaveOut func(*http.Request) bool
	leftOut  int       // requests
	asked    time.Time // when the last request was not left out
}

// Inerted is the spec to run in place of the real one: it passes if the real one
// proves nothing.
func (i *Inert) Inerted() Spec {
	spec := *i.Spec
	spec.id, spec.Row = i.Without+"/"+spec.id, ""
	spec.Known, spec.Within = nil, max(spec.within(), 5*time.Minute) // it need not be quick
	spec.Run = i.run
	return spec
}

// run is the spec's body.
func (i *Inert) run(ctx context.Context, env *Env) {
	end, cut := i.real(ctx, env)
	if end != nil && (end.verdict == report.Infra || end.verdict == report.Skipped) {
		panic(*end)
	}
	verdict, detail := report.Passed, ""
	if end != nil {
		verdict, detail = end.verdict, end.reason+"\n"+end.detail
	} else if len(env.claims) == 0 {
		verdict = report.Vacuous
	}
	wrong := ""
	switch {
	case i.leftOut == 0:
		wrong = "nothing was left out"
	case i.Lifts && (verdict != report.Passed || cut == 0):
		wrong = fmt.Sprintf("its claims should all hold, since its last change only lifts what it has tested: it %s, %d of its waits cut short", verdict, cut)
	case !i.Lifts && verdict != report.Vacuous:
		wrong = fmt.Sprintf("it should be vacuous: it %s, %d of its waits cut short", verdict, cut)
	case i.NoneHolds && slices.ContainsFunc(env.claims, func(c report.Judged) bool { return c.Verdict == check.Holds.String() }):
		wrong = "a claim holds of what never happened"
	}
	if wrong != "" {
		panic(ending{verdict: report.Failed, reason: wrong, detail: strings.TrimSpace(detail), at: time.Now()})
	}
	env.claims = append(env.claims, report.Judged{Check: "without its stimulus it proves nothing", Verdict: check.Holds.String(), Tested: i.leftOut})
}

// real runs the spec and returns how it ended, nil if it went through, and how
// many of its waits were cut short.
func (i *Inert) real(ctx context.Context, env *Env) (end *ending, cut int) {
	i.leftOut, i.leaveOut = 0, i.LeaveOut()
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
	return i.untilNothingIsThere(ctx, env), hasty.cut
}

// untilNothingIsThere runs the spec up to its end or to where it takes the first of
// the objects that it waited for and none came: there it can't go on.
func (i *Inert) untilNothingIsThere(ctx context.Context, env *Env) (end *ending) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ending:
			end = &r
		case runtime.Error:
			if !strings.Contains(r.Error(), "index out of range [0] with length 0") {
				panic(r)
			}
			end = &ending{verdict: report.Vacuous, reason: r.Error()}
			if len(env.claims) > 0 { // else it would have ended at the first that doesn't hold
				end.verdict = report.Failed
			}
		default:
			panic(r)
		}
	}()
	i.Spec.Run(ctx, env)
	return nil
}

// leavingOut answers the requests that are left out in the API server's place.
type leavingOut struct {
	next  http.RoundTripper
	inert *Inert
}

// RoundTrip answers a request, or passes it on.
func (l leavingOut) RoundTrip(r *http.Request) (*http.Response, error) {
	if !l.inert.leaveOut(r) {
		l.inert.asked = time.Now()
		return l.next.RoundTrip(r)
	}
	l.inert.leftOut++
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
	for h.inert.leftOut > 0 {
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
