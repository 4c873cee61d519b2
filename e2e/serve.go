package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// serveVariable makes a worker serve trials. Its value is the file descriptor for answers; the requests come on
// standard input.
const serveVariable = "PLUMBLINE_SERVE"

// recordingVariable names a recording of the provider's. The instance types that it shows are known to a server: see
// invariant.ReasonFits.
const recordingVariable = "PLUMBLINE_RECORDING"

// notConfigured begins the reason why a session's controller has not the variables of a trial.
const notConfigured = "starting the controller with"

// ConfigurationFailed reports whether a spec did not run because the controller doesn't start with the variables of
// its trial. Any other failed set-up is not the variant's.
func ConfigurationFailed(o report.Outcome) bool {
	return o.Verdict == report.Infra && strings.HasPrefix(o.Reason, setUpFailed+notConfigured)
}

// Trial is a request to a worker that serves: to run specs against one variant of the provider, or to play a sequence.
type Trial struct {
	Variables map[string]string `json:"variables"` // of the controller's environment
	Specs     []string          `json:"specs"`     // their IDs, in this order, up to the first that does not pass
	// Sequence is played after the specs; nil: none.
	Sequence *explore.Sequence `json:"sequence,omitempty"`
}

// Answer is what came of a trial.
type Answer struct {
	Outcomes []report.Outcome `json:"outcomes"`
	// Karpenter is the release of Karpenter core, such as v1.15.0; empty: it is unknown.
	Karpenter string `json:"karpenter,omitempty"`
	// Unknown is the trial's sequence, without the actions that give it what is known to fail if it failed. Nil: there was
	// no sequence.
	Unknown *explore.Sequence `json:"unknown,omitempty"`
}

// ServeEnvironment returns the environment of a test binary that serves trials, for Run: it keeps one cluster, and
// restarts the controller between trials. It is for tools that try many variants of one provider, since a new
// cluster costs more than most trials do. Requests are Trials on its standard input, one JSON document each.
// It writes their Answers to its file descriptor 3, and ends with its input. The folder is for its artifacts. A variant
// that launches nothing shows no instance types. A recording of the provider itself shows them; empty: there is none.
func ServeEnvironment(environ []string, folder, recording string) []string {
	return append(environ, serveVariable+"=3", runVariable+"="+folder, recordingVariable+"="+recording,
		fmt.Sprintf("%s=%d", leaderVariable, os.Getpid()))
}

// ServeArguments returns the arguments of a test binary that serves trials, in a test function that calls Run.
func ServeArguments(test string) []string {
	return []string{
		"-test.run=^" + test + "$", "-test.timeout=0", "-ginkgo.timeout=" + endless, "-ginkgo.grace-period=90s",
	}
}

// declareServer adds a single spec to the tree, which serves trials until its input ends.
func (r *Registration) declareServer(suites []*Suite) error {
	number, err := strconv.Atoi(os.Getenv(serveVariable))
	if err != nil {
		return fmt.Errorf("%s: %w", serveVariable, err)
	}
	answers := os.NewFile(uintptr(number), "answers")
	ginkgo.It("serves trials", func(ctx ginkgo.SpecContext) {
		if err := r.serve(interruptible(ctx), suites, os.Stdin, answers); err != nil {
			ginkgo.Fail(err.Error())
		}
	})
	return nil
}

// serve answers trials until their input or the context ends.
func (r *Registration) serve(ctx context.Context, suites []*Suite, in io.Reader, out io.Writer) error {
	requests := make(chan Trial)
	var broken error
	go func() { // a read can't be interrupted
		defer close(requests)
		from := json.NewDecoder(in)
		for {
			var t Trial
			if err := from.Decode(&t); err != nil {
				if !errors.Is(err, io.EOF) {
					broken = fmt.Errorf("reading a trial: %w", err)
				}
				return
			}
			requests <- t
		}
	}()
	to := json.NewEncoder(out)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case t, more := <-requests:
			if !more {
				return broken
			}
			if err := to.Encode(r.try(ctx, suites, t)); err != nil {
				return fmt.Errorf("answering a trial: %w", err)
			}
		}
	}
}

// try runs the specs of a trial, in its order, up to the first that does not pass. A cluster that didn't start for
// an earlier trial says nothing of this one.
func (r *Registration) try(ctx context.Context, suites []*Suite, t Trial) Answer {
	r.variables, r.setUp = t.Variables, nil
	var a Answer
	for _, id := range t.Specs {
		suite, spec := find(suites, id)
		if spec == nil {
			a.Outcomes = append(a.Outcomes, report.Outcome{ID: id, Verdict: report.Infra, Reason: "there is no such spec"})
			return a
		}
		o := r.runInSession(ctx, suite, spec)
		a.Outcomes = append(a.Outcomes, o)
		if o.Verdict != report.Passed {
			return a
		}
	}
	if t.Sequence != nil {
		o, unknown := r.play(ctx, suites, *t.Sequence)
		a.Outcomes, a.Unknown = append(a.Outcomes, o), &unknown
	}
	a.Karpenter = r.core
	return a
}

func find(suites []*Suite, id string) (*Suite, *Spec) {
	for _, suite := range suites {
		for _, spec := range suite.Specs() {
			if spec.id == id {
				return suite, spec
			}
		}
	}
	return nil, nil
}

// configure gives the session's controller the variables of the trial. What is left of a controller that does not
// start with them goes with its cluster.
func (r *Registration) configure(ctx context.Context) error {
	if maps.Equal(r.variables, r.configured) {
		return nil
	}
	if _, err := r.session.Provider.Configure(ctx, r.variables); err != nil {
		r.renew(ctx)
		return fmt.Errorf("%s %v: %w", notConfigured, r.variables, err)
	}
	r.configured = r.variables
	return nil
}
