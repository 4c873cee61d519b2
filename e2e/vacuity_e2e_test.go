//go:build e2e

package e2e_test

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites/api"
	"github.com/plumbline-e2e/plumbline/suites/budgets"
	"github.com/plumbline-e2e/plumbline/suites/buffer"
	"github.com/plumbline-e2e/plumbline/suites/chaos"
	"github.com/plumbline-e2e/plumbline/suites/consolidation"
	"github.com/plumbline-e2e/plumbline/suites/controls"
	"github.com/plumbline-e2e/plumbline/suites/drift"
	"github.com/plumbline-e2e/plumbline/suites/expiration"
	"github.com/plumbline-e2e/plumbline/suites/migration"
	"github.com/plumbline-e2e/plumbline/suites/nodeclaim"
	"github.com/plumbline-e2e/plumbline/suites/overlay"
	"github.com/plumbline-e2e/plumbline/suites/provisioning"
	"github.com/plumbline-e2e/plumbline/suites/repair"
	"github.com/plumbline-e2e/plumbline/suites/taints"
	"github.com/plumbline-e2e/plumbline/suites/termination"
)

// quiet is how long nothing must be recorded for the cluster to be at rest:
// longer than a batch of pods stays open, which is 1 s.
const quiet = 2 * time.Second

// expired is longer than the age at which nodes expire in these suites.
const expired = 35 * time.Second

// behaviours are the suites whose specs make something happen by pods, NodeClaims
// and NodeOverlays that they create and by changes that they make. Those behind a
// feature gate are run where GATES turns it on.
func behaviours() []*e2e.Suite {
	return []*e2e.Suite{
		api.Suite, provisioning.Suite, taints.Suite, drift.Suite, expiration.Suite, budgets.Suite, consolidation.Suite, nodeclaim.Suite,
		repair.Suite, buffer.Suite, overlay.Suite,
		controls.Suite, termination.Suite, migration.Suite, chaos.Suite,
	}
}

// lifts are the specs whose only change lifts what they have tested by pods
// already. Without it their claims hold, rightly, and they fail all the same:
// what they wait for in the end never comes.
var lifts = []string{
	"chaos of a controller killed while nodes start doubles none and strands none",
	"chaos of taints that keep coming makes no runaway, with consolidation",
	"chaos of taints that keep coming makes no runaway, with emptiness",
	"expiration waits for a pod that must not be disrupted where no terminationGracePeriod ends",
	"provisioning counts on nodes that are still starting",
	"provisioning never exceeds a limit of CPUs",
	"provisioning never exceeds a limit of memory",
	"provisioning never exceeds a limit of nodes from one batch to the next",
	"taints of a node's startup hold pods until they are removed",
	"taints of a node's startup let daemons in that tolerate them, and pods only after",
	"taints of a node's startup keep it from being initialized",
	"taints of the template keep pods off that don't tolerate them",
	"taints with the effect NoExecute keep pods off that don't tolerate them",
	"the API says in a condition what is wrong with a pool that the schema couldn't refuse",
	"the API says in conditions whether a pool and its NodeClass are ready, and why not",
}

// TestVacuousWithoutPods runs every spec without the workloads that it creates, and
// without what it creates in their place. Nothing happens then, so that not one of
// its claims may hold.
func TestVacuousWithoutPods(t *testing.T) {
	stimuli := regexp.MustCompile("/namespaces/" + e2e.Namespace + "/|/nodeclaims/|/nodeoverlays/")
	workloads := regexp.MustCompile(`fixtures\.(Deployment|Pod|DaemonSet)\(`)
	each(t, "without-pods", func(t *testing.T, session *e2e.Session, suite *e2e.Suite, spec *e2e.Spec) {
		if suite == api.Suite && !workloads.MatchString(text(t, spec)) {
			t.Skip("it is about no more than what the API server answers")
		}
		outcome := run(t, session, suite, &e2e.Inert{Spec: spec, Quiet: quiet, LeaveOut: func(r *http.Request) bool {
			return stimuli.MatchString(r.URL.Path)
		}})
		g := NewWithT(t)
		g.Expect(outcome.Verdict).To(Equal(report.Vacuous), said(outcome))
		for _, claim := range outcome.Claims {
			g.Expect(claim.Verdict).NotTo(Equal("holds"), said(outcome))
		}
	})
}

// TestVacuousWithoutChanges runs every spec that changes, patches or deletes
// something without doing so: pools stay as they were made, workloads too.
func TestVacuousWithoutChanges(t *testing.T) {
	changes := regexp.MustCompile(`(env\.(Change|Patch|Delete)\w*|\bend|\bremove)\(ctx`)
	each(t, "without-changes", func(t *testing.T, session *e2e.Session, suite *e2e.Suite, spec *e2e.Spec) {
		if !changes.MatchString(text(t, spec)) {
			t.Skip("it changes nothing")
		}
		inert := &e2e.Inert{Spec: spec, Quiet: quiet, LeaveOut: again()}
		if suite == expiration.Suite { // which goes on without any change
			inert.Quiet = expired
		}
		outcome := run(t, session, suite, inert)
		g := NewWithT(t)
		if slices.Contains(lifts, suite.Name+" "+spec.Name) {
			g.Expect(outcome.Verdict).To(Equal(report.Failed), said(outcome))
			g.Expect(outcome.Reason).To(ContainSubstring("cut short"))
			return
		}
		g.Expect(outcome.Verdict).To(Equal(report.Vacuous), said(outcome))
	})
}

// again tells requests that change what is there from those that make it: of
// those that apply an object, the first one.
func again() func(*http.Request) bool {
	made := map[string]bool{}
	return func(r *http.Request) bool {
		switch {
		case r.Method == http.MethodDelete:
			return true
		case r.Method != http.MethodPatch:
			return false
		}
		before := made[r.URL.Path]
		made[r.URL.Path] = true
		return before || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch")
	}
}

// each calls f for every spec, as a subtest. Suites have clusters of their own,
// as many of them side by side as `go test -parallel` says.
func each(t *testing.T, cluster string, f func(*testing.T, *e2e.Session, *e2e.Suite, *e2e.Spec)) {
	t.Helper()
	t.Parallel()
	for _, suite := range behaviours() {
		t.Run(suite.Name, func(t *testing.T) {
			t.Parallel()
			name := strings.ToLower(strings.ReplaceAll(suite.Name, " ", "-"))
			session := start(t, cluster+"-"+name)
			for _, spec := range suite.Specs() {
				t.Run(spec.Name, func(t *testing.T) {
					if spec.Leaps {
						t.Skip("it would take along the clusters of the others, by whose clock it lives here")
					}
					f(t, session, suite, spec)
				})
			}
		})
	}
}

// start brings up a session for a test.
func start(t *testing.T, name string) *e2e.Session {
	t.Helper()
	g := NewWithT(t)
	config, err := e2e.FromEnv()
	g.Expect(err).NotTo(HaveOccurred())
	plan, err := e2e.Prepare(t.Context(), config, providers.Named("kwok"), func(step string) { t.Log(step) })
	g.Expect(err).NotTo(HaveOccurred())
	session, err := plan.Start(t.Context(), name, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(session.Close(context.Background())).To(Succeed()) })
	return session
}

// run runs a spec of which something is left out: again, as a run does, if what
// is beneath it disturbed it.
func run(t *testing.T, session *e2e.Session, suite *e2e.Suite, inert *e2e.Inert) report.Outcome {
	t.Helper()
	outcome, clean := session.Run(t.Context(), suite, inert.Inerted(), t.TempDir())
	if outcome.Verdict == report.Infra && clean {
		t.Logf("running it again, since it was infra: %s", outcome.Reason)
		outcome, clean = session.Run(t.Context(), suite, inert.Inerted(), t.TempDir())
	}
	if outcome.Verdict == report.Skipped {
		t.Skip(outcome.Reason)
	}
	t.Logf("%s after %s: %s", outcome.Verdict, outcome.Took.Round(time.Second/10), outcome.Reason)
	g := NewWithT(t)
	g.Expect(clean).To(BeTrue(), said(outcome))
	g.Expect(inert.LeftOut).To(BeNumerically(">", 0), "nothing was left out")
	return outcome
}

// said is what a spec came to, for the reader of a failure.
func said(o report.Outcome) string {
	lines := []string{o.Reason, o.Detail}
	for _, claim := range o.Claims {
		lines = append(lines, claim.Verdict+": "+claim.Check)
	}
	return strings.Join(lines, "\n")
}

// text is the file that declares a spec.
func text(t *testing.T, spec *e2e.Spec) string {
	t.Helper()
	file, _, _ := strings.Cut(spec.Source(), ":")
	content, err := os.ReadFile(file)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(content)
}
