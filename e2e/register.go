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

// setUpFailed begins the reason of a spec that has no session to run in.
const setUpFailed = "set-up failed: "

// Names of entries in Ginkgo's reports: a spec's ID, and its outcome as JSON.
const (
	idEntry      = "ID"
	outcomeEntry = "plumbline"
)

// Register adds the suites' specs to your own Ginkgo tree. Call it where containers are
// declared, at the top level or inside one:
//
//	var conformance = e2e.Register(providers.Load("plumbline.yaml"), suites.All()...)
//
//	var _ = AfterSuite(conformance.Close)
//
// The first spec that runs in a process starts the cluster. Close ends it, so pass it to the
// tree's AfterSuite. Ginkgo's own flags select specs.
//
// If time is bent (see SPEED), the whole process uses its cluster's clock. Then give Ginkgo
// and `go test` more time than their defaults (-ginkgo.timeout=100h -timeout=0), or set
// SPEED=1. Ginkgo's reports then are in cluster time too. Each spec's entry report.SpanEntry
// has its real time.
func Register(a *providers.Adapter, suites ...*Suite) *Registration {
	if err := checkIDsDiffer(suites); err != nil {
		panic(err)
	}
	r := &Registration{adapter: a, again: func(o report.Outcome) string {
		// Without apostrophes the shell needs no other quoting.
		return fmt.Sprintf("go test -count=1 -timeout=0 -ginkgo.focus='%s'",
			strings.ReplaceAll(regexp.QuoteMeta(o.Sentence()), "'", "."))
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
	leaps    bool  // the session is for specs that leap
	setUp    error // why the start failed; later specs don't try again
	run      string
	progress *report.Progress // nil: messages go to Ginkgo's writer
	config   *Config          // nil: from the environment at the first spec

	variables  map[string]string // that the controller shall have; see Trial
	configured map[string]string // that it has
	core       string            // release of Karpenter core in the latest session, which may have ended

	again func(report.Outcome) string // returns the command that runs a spec alone
}

// declare adds the suites' specs to the tree, with these labels: all, or those that the
// configuration selects. (Ginkgo's focus would match a text with more before the spec's
// sentence.) The longest specs come first, so that no worker starts one when the others end.
func (r *Registration) declare(suites []*Suite, labels ...string) {
	all := Config{}.choose(r.adapter, suites)
	if r.config != nil {
		var err error
		if _, all, err = r.config.deal(r.adapter, suites); err != nil {
			panic(err) // the leading process has checked it
		}
	}
	took := durations{}
	if r.run != "" { // all processes read the same file and get the same order
		took = readDurations(r.run)
	}
	slices.SortStableFunc(all, func(a, b chosen) int {
		if r.config != nil && r.config.FailFast {
			a, b = b, a
		}
		return cmp.Compare(took.expected(r.adapter.Name, b.spec), took.expected(r.adapter.Name, a.spec))
	})
	ginkgo.Describe(r.adapter.Name+":", ginkgo.Label(labels...), func() {
		for _, p := range all {
			ginkgo.Context(p.suite.Name, ginkgo.Label(p.suite.label()), func() {
				body := inRealTime(func(ctx ginkgo.SpecContext) { r.runGinkgoSpec(ctx, p.suite, p.spec) })
				ginkgo.It(p.spec.Name, ginkgo.Label(p.spec.Labels...), p.spec.Since.constraints(), body)
			})
		}
	})
}

// inRealTime runs a Ginkgo body and reports its real time. Ginkgo's own times are cluster
// time.
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

// runGinkgoSpec runs a spec as the body of a Ginkgo spec and passes its verdict to Ginkgo.
func (r *Registration) runGinkgoSpec(ctx ginkgo.SpecContext, suite *Suite, spec *Spec) {
	o := r.runInSession(interruptible(ctx), suite, spec)
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

// interruptible returns a context that ends with Ginkgo's. Its cause, env.ErrInterrupted,
// distinguishes an interruption from a timeout.
func interruptible(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	context.AfterFunc(parent, func() { cancel(env.ErrInterrupted) })
	return ctx
}

func (r *Registration) runInSession(ctx context.Context, suite *Suite, spec *Spec) report.Outcome {
	if r.leaps != spec.Leaps() {
		if r.session != nil && r.session.Clock != nil { // without a clock, specs that leap are skipped
			r.renew(ctx)
		}
		r.leaps = spec.Leaps()
	}
	if err := r.ensure(ctx); err != nil {
		return report.Outcome{
			Provider: r.adapter.Name, ID: spec.id, Suite: suite.Name, Spec: spec.Name, Source: spec.source,
			Verdict: report.Infra, Started: time.Now(), Reason: setUpFailed + err.Error(),
		}
	}
	histories := filepath.Join(r.run, historiesFolder)
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
			o.Retried = first
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

// ensure starts a session if there is none. It doesn't retry a failed start.
func (r *Registration) ensure(ctx context.Context) error {
	if r.session == nil && r.setUp == nil {
		r.setUp = r.start(ctx)
	}
	if r.setUp != nil {
		return r.setUp
	}
	return r.configure(ctx)
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
	r.session, r.configured, r.core = started, nil, started.Provider.CoreVersion
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
	if recording := os.Getenv(recordingVariable); err == nil && recording != "" {
		err = plan.Learn(recording)
	}
	return err
}

// renew ends the session. The next spec starts a new one.
func (r *Registration) renew(ctx context.Context) {
	if err := r.Close(context.WithoutCancel(ctx)); err != nil {
		r.send(report.Message{Step: fmt.Sprintf("ending a cluster: %v", err)})
	}
}

// hold keeps the cluster until the run is interrupted.
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
