package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Names of entries in Ginkgo's reports: a spec's ID, and its outcome as JSON.
const (
	idEntry      = "ID"
	outcomeEntry = "plumbline"
)

// Register adds the suites' specs to a Ginkgo tree of the caller's. Call it
// where containers are declared, at the top level or inside one:
//
//	var conformance = e2e.Register(providers.Load("plumbline.yaml"), suites.All()...)
//
//	var _ = AfterSuite(conformance.Close)
//
// The first spec that runs in a process starts the cluster; Close ends it, so
// pass it to the tree's AfterSuite. Ginkgo's own flags select specs.
//
// Where time is bent (see SPEED), the process lives by its cluster's clock, and
// counts all else that it does by it too: give Ginkgo and `go test` more time than
// their defaults (-ginkgo.timeout=100h -timeout=0), or set SPEED=1. Ginkgo's reports are in
// the cluster's time too then; the entry report.SpanEntry of each spec says when it ran in
// real time.
func Register(a *providers.Adapter, suites ...*Suite) *Registration {
	if err := distinct(suites); err != nil {
		panic(err)
	}
	r := &Registration{adapter: a, again: func(o report.Outcome) string {
		// Without apostrophes there is nothing to quote for a shell.
		return fmt.Sprintf("go test -count=1 -timeout=0 -ginkgo.focus='%s'", strings.ReplaceAll(regexp.QuoteMeta(o.Sentence()), "'", "."))
	}}
	r.declare(suites)
	return r
}

// Registration is the part of a Ginkgo tree that Register added.
type Registration struct {
	adapter  *providers.Adapter
	plan     *session.Plan
	session  *session.Session
	sessions int
	leaps    bool  // the session's cluster is for specs that move the clock far
	setUp    error // remembered: what failed once is not tried for every spec again
	run      string
	progress *report.Progress // nil unless somebody follows
	config   *Config          // nil: from the environment at the first spec

	again func(report.Outcome) string // the command that runs the spec alone
}

// declare adds the suites to the tree, under the labels given: all their
// specs, or those that the configuration selects. (Ginkgo's own focus would
// match a text that begins with more than the spec's sentence.) Those that take
// longest come first, so that no worker begins one when the others end.
func (r *Registration) declare(suites []*Suite, labels ...string) {
	type place struct {
		suite *Suite
		spec  *Spec
	}
	var all []place
	for _, suite := range suites {
		for _, spec := range suite.Specs() {
			if r.config == nil || r.config.selects(r.adapter.Name, suite, spec) {
				all = append(all, place{suite, spec})
			}
		}
	}
	took := durations{}
	if r.run != "" { // what other processes begin with too: all must come to the same order
		took = readDurations(r.run)
	}
	slices.SortStableFunc(all, func(a, b place) int {
		return cmp.Compare(took.of(r.adapter.Name, b.spec), took.of(r.adapter.Name, a.spec))
	})
	ginkgo.Describe(r.adapter.Name+":", ginkgo.Label(labels...), func() {
		for _, p := range all {
			ginkgo.Context(p.suite.Name, ginkgo.Label(p.suite.label()), func() {
				body := inRealTime(func(ctx ginkgo.SpecContext) { r.it(ctx, p.suite, p.spec) })
				ginkgo.It(p.spec.Name, ginkgo.Label(p.spec.Labels...), p.spec.Since.constraints(), body)
			})
		}
	})
}

// inRealTime runs a body of Ginkgo's and reports when it ran in real time: all times that
// Ginkgo takes itself are the cluster's.
func inRealTime(body func(ginkgo.SpecContext)) func(ginkgo.SpecContext) {
	return func(ctx ginkgo.SpecContext) {
		began := clock.Wall()
		defer func() {
			span := report.Span{Started: began, Ended: clock.Wall()}
			ginkgo.AddReportEntry(report.SpanEntry, span, ginkgo.ReportEntryVisibilityNever)
		}()
		body(ctx)
	}
}

// it is the body of every Ginkgo spec: it runs ours and translates its
// verdict into Ginkgo's words.
func (r *Registration) it(ctx ginkgo.SpecContext, suite *Suite, spec *Spec) {
	o := r.outcome(interruptible(ctx), suite, spec)
	ginkgo.AddReportEntry(idEntry, o.ID, ginkgo.ReportEntryVisibilityNever)
	ginkgo.AddReportEntry(outcomeEntry, o, ginkgo.ReportEntryVisibilityNever)
	r.send(report.Message{Outcome: &o})
	switch o.Verdict {
	case report.Passed:
	case report.Skipped, report.Known:
		ginkgo.Skip(fmt.Sprintf("%s: %s", o.Verdict, o.Reason))
	default:
		ginkgo.Fail(strings.TrimSpace(fmt.Sprintf("%s: %s\n%s", o.Verdict, o.Reason, o.Detail)))
	}
}

// interruptible gives a context that ends with Ginkgo's the cause that tells
// an interruption from a timeout.
func interruptible(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	context.AfterFunc(parent, func() { cancel(env.ErrInterrupted) })
	return ctx
}

func (r *Registration) outcome(ctx context.Context, suite *Suite, spec *Spec) report.Outcome {
	if r.leaps != spec.Leaps() {
		if r.session != nil && r.session.Clock != nil { // else the spec will be skipped
			r.renew(ctx)
		}
		r.leaps = spec.Leaps()
	}
	if err := r.ensure(ctx); err != nil {
		return report.Outcome{
			Provider: r.adapter.Name, ID: spec.id, Suite: suite.Name, Spec: spec.Name, Verdict: report.Infra, Started: time.Now(),
			Reason: "set-up failed: " + err.Error(),
		}
	}
	histories := filepath.Join(r.run, "histories")
	o, clean := r.runSpec(ctx, suite, spec, histories)
	if o.Verdict == report.Infra && ctx.Err() == nil {
		first, lagged := strings.TrimSpace(o.Reason+"\n"+o.Detail), o.Lag > clock.MaxLag
		r.renew(ctx)
		if err := r.ensure(ctx); err == nil {
			how := "on a new cluster"
			if lagged {
				how += ", slower"
				defer r.session.SlowDown()()
			}
			o, clean = r.runSpec(ctx, suite, spec, filepath.Join(histories, "again"))
			o.Note = strings.TrimSpace(fmt.Sprintf("%s run again %s, since the first time was infra: %s", o.Note, how, first))
		}
	}
	o.Worker = ginkgo.GinkgoParallelProcess()
	if o.Verdict.Red() || o.Verdict == report.Known {
		o.Rerun = r.again(o)
	}
	if !clean {
		r.renew(ctx)
	}
	return o
}

// ensure makes sure that there is a session to run a spec in.
func (r *Registration) ensure(ctx context.Context) error {
	if r.session != nil || r.setUp != nil {
		return r.setUp
	}
	r.setUp = r.start(ctx)
	return r.setUp
}

func (r *Registration) start(ctx context.Context) error {
	if r.plan == nil {
		if err := r.prepare(ctx); err != nil {
			return err
		}
	}
	r.sessions++
	name := fmt.Sprintf("%s-%d-%s", r.adapter.Name, os.Getpid(), rand.String(4))
	plan := *r.plan
	plan.Leaps = r.leaps
	started, err := plan.Start(ctx, name, logFolder(r.run, ginkgo.GinkgoParallelProcess(), r.sessions))
	if err != nil {
		return err
	}
	r.session = started
	r.send(report.Message{Cluster: started.Describe()})
	return nil
}

func (r *Registration) prepare(ctx context.Context) error {
	if r.config == nil {
		c, err := FromEnv()
		if err = errors.Join(err, r.adapter.Validate()); err != nil {
			return err
		}
		r.config = &c
	}
	if r.run == "" {
		run, err := NewRunFolder(r.config.Artifacts)
		if err != nil {
			return err
		}
		r.run = run
	}
	plan, err := Prepare(ctx, *r.config, r.adapter, func(step string) { r.send(report.Message{Step: step}) })
	r.plan = plan
	return err
}

// renew ends the session; the next spec gets a new one.
func (r *Registration) renew(ctx context.Context) {
	if err := r.Close(context.WithoutCancel(ctx)); err != nil {
		r.send(report.Message{Step: fmt.Sprintf("ending a cluster: %v", err)})
	}
}

// hold leaves the cluster as it is until somebody interrupts the run.
func (r *Registration) hold(ctx context.Context, sentence string, failure *env.Failure) {
	r.send(report.Message{Step: fmt.Sprintf("KEEP=1: %q %s (%s); its cluster stays until Ctrl-C: export KUBECONFIG=%s",
		sentence, failure.Verdict, failure.Reason, r.session.Cluster.Kubeconfig())})
	<-ctx.Done()
}

// Close ends the cluster that the registered specs ran on, if one was started.
func (r *Registration) Close(ctx context.Context) error {
	if r.session == nil {
		return nil
	}
	ended := r.session
	r.session = nil
	if unknown, err := ended.Provider.Unknown(ctx); err != nil && ended.Err() == nil {
		r.send(report.Message{Step: fmt.Sprintf("asking the simulator what it didn't know: %v", err)})
	} else if len(unknown) > 0 {
		r.send(report.Message{
			Step: "the provider asked its simulated cloud for what that doesn't know: " + strings.Join(unknown, ", "),
		})
	}
	return ended.Close(ctx)
}

func (r *Registration) send(m report.Message) {
	if r.progress == nil {
		if m.Step != "" {
			ginkgo.GinkgoWriter.Println(m.Step)
		}
		return
	}
	if err := r.progress.Send(m); err != nil {
		ginkgo.GinkgoWriter.Println("progress:", err)
	}
}
