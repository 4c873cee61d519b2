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
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Inert is a spec without some of its requests: they get a success as the answer and have no
// effect. After the first of them the spec's waits end when the cluster is at rest.
type Inert struct {
	Spec      *Spec
	Without   string                          // what is left out; it precedes the spec's ID
	LeaveOut  func() func(*http.Request) bool // called for each run
	Quiet     time.Duration                   // the cluster is at rest after so long without an event or request
	NoneHolds bool                            // none of its claims may hold, even beside others that don't
	Lifts     bool                            // its claims still hold, and only its waits are cut short

	leaveOut func(*http.Request) bool
	leftOut  int       // number of requests
	asked    time.Time // when the last request was passed on
}

// Inerted returns the spec to run instead of the real one. It passes if the real one proves
// nothing.
func (i *Inert) Inerted() Spec {
	spec := *i.Spec
	spec.id, spec.Row = i.Without+"/"+spec.id, ""
	spec.Known, spec.Within = nil, max(spec.timeLimit(), 5*time.Minute) // it need not be quick
	spec.Run = i.run
	return spec
}

func (i *Inert) run(ctx context.Context, e *Env) {
	failure, cut := i.real(ctx, e)
	verdict, detail := report.Passed, ""
	if failure != nil {
		verdict, detail = failure.Verdict, failure.Reason+"\n"+failure.Detail
	}
	if verdict == report.Infra || verdict == report.Skipped {
		panic(*failure)
	}
	result := env.ResultOf(e)
	wrong := ""
	switch {
	case i.leftOut == 0:
		wrong = "nothing was left out"
	case i.Lifts && (verdict != report.Passed || cut == 0):
		wrong = fmt.Sprintf("its claims should all hold, since its last change only lifts what it has tested: it %s, %d of "+
			"its waits cut short", verdict, cut)
	case !i.Lifts && verdict != report.Vacuous:
		wrong = fmt.Sprintf("it should be vacuous: it %s, %d of its waits cut short", verdict, cut)
	case i.NoneHolds && slices.ContainsFunc(result.Claims, func(c report.Judged) bool {
		return c.Verdict == check.Holds.String()
	}):
		wrong = "a claim holds of what never happened"
	}
	if wrong != "" {
		panic(*env.Failed(wrong + "\n" + strings.TrimSpace(detail)))
	}
	result.Claims = append(result.Claims,
		report.Judged{Check: "without its stimulus it proves nothing", Verdict: check.Holds.String(), Tested: i.leftOut})
}

// real runs the spec. It returns its failure, or nil, and how many waits were cut short.
func (i *Inert) real(ctx context.Context, e *Env) (failure *env.Failure, cut int) {
	i.leftOut, i.leaveOut = 0, i.LeaveOut()
	var waits *hasty
	restore := env.Replace(e, func(p env.Place, r env.Recording) (env.Place, env.Recording) {
		config := rest.CopyConfig(p.Cluster.Config())
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return leavingOut{next, i} })
		var err error
		if p.Client, err = dynamic.NewForConfig(config); err != nil {
			panic(*env.Failed(fmt.Sprintf("a client that leaves requests out: %v", err)))
		}
		waits = &hasty{Recording: r, inert: i}
		return p, waits
	})
	defer restore() // the clean-up leaves nothing out
	return i.untilNothingIsThere(ctx, e), waits.cut
}

// untilNothingIsThere runs the spec up to its end, or until it takes the first of the objects
// that it waited for and there is none.
func (i *Inert) untilNothingIsThere(ctx context.Context, e *Env) *env.Failure {
	var end error
	failure := env.Run(ctx, e, func(ctx context.Context, e *Env) {
		defer func() {
			r := recover()
			err, is := r.(runtime.Error)
			switch {
			case is && strings.Contains(err.Error(), "index out of range [0] with length 0"):
				end = err
			case r != nil:
				panic(r)
			}
		}()
		i.Spec.Run(ctx, e)
	})
	if failure == nil && end != nil { // it had claims; otherwise it would be vacuous
		return env.Failed(end.Error())
	}
	return failure
}

// leavingOut answers the left-out requests in place of the API server.
type leavingOut struct {
	next  http.RoundTripper
	inert *Inert
}

// RoundTrip answers a request or passes it on.
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

// hasty is a recording whose waits end early once something has been left out.
type hasty struct {
	env.Recording
	inert *Inert
	cut   int // number of waits that were cut short
}

// Await waits as usual until something has been left out. From then on it waits at most until
// the cluster is at rest, and then returns nil.
func (h *hasty) Await(ctx context.Context, pred func(*history.World) bool) error {
	for h.inert.leftOut > 0 {
		window, cancel := context.WithDeadline(ctx, h.stirred().Add(h.inert.Quiet))
		err := h.Recording.Await(window, pred)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case time.Since(h.stirred()) >= h.inert.Quiet:
			h.cut++
			return nil
		}
	}
	return h.Recording.Await(ctx, pred)
}

// stirred returns when something last happened: an event, or a request of the spec.
func (h *hasty) stirred() time.Time {
	event := h.History().End().Time()
	if h.inert.asked.After(event) {
		return h.inert.asked
	}
	return event
}
