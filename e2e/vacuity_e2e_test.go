//go:build e2e

package e2e_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites/api"
	"github.com/plumbline-e2e/plumbline/suites/budgets"
	"github.com/plumbline-e2e/plumbline/suites/buffer"
	"github.com/plumbline-e2e/plumbline/suites/chaos"
	"github.com/plumbline-e2e/plumbline/suites/consolidation"
	"github.com/plumbline-e2e/plumbline/suites/controls"
	"github.com/plumbline-e2e/plumbline/suites/deletioncost"
	"github.com/plumbline-e2e/plumbline/suites/drift"
	"github.com/plumbline-e2e/plumbline/suites/expiration"
	"github.com/plumbline-e2e/plumbline/suites/migration"
	"github.com/plumbline-e2e/plumbline/suites/nodeclaim"
	"github.com/plumbline-e2e/plumbline/suites/overlay"
	"github.com/plumbline-e2e/plumbline/suites/provisioning"
	"github.com/plumbline-e2e/plumbline/suites/repair"
	"github.com/plumbline-e2e/plumbline/suites/settings"
	"github.com/plumbline-e2e/plumbline/suites/taints"
	"github.com/plumbline-e2e/plumbline/suites/termination"
)

// quiet is how long nothing must be recorded for the cluster to be at rest. It is longer than
// a batch of pods stays open, which is 1 s.
const quiet = 2 * time.Second

// expired is longer than the age at which nodes expire in these suites.
const expired = 35 * time.Second

// behaviours returns the suites whose specs create pods, NodeClaims or NodeOverlays, or change
// something, to make something happen. Those behind a feature gate run if GATES turns it on.
func behaviours() []*e2e.Suite {
	return []*e2e.Suite{
		api.Suite, provisioning.Suite, taints.Suite, drift.Suite, expiration.Suite, budgets.Suite, consolidation.Suite,
		nodeclaim.Suite,
		repair.Suite, buffer.Suite, overlay.Suite, deletioncost.Suite, settings.Suite,
		controls.Suite, termination.Suite, migration.Suite, chaos.Suite,
	}
}

// lifts are the specs whose only change lifts what they have already tested with pods. Without
// it their claims rightly hold, and only their last wait never ends.
var lifts = []string{
	"chaos/killed-starting",
	"chaos/runaway/consolidation",
	"chaos/runaway/emptiness",
	"expiration/unbounded",
	"provisioning/daemons-elsewhere/affinity",
	"provisioning/daemons-elsewhere/selector",
	"provisioning/daemons-elsewhere/taints",
	"provisioning/in-flight",
	"provisioning/in-flight-full",
	"provisioning/limit/cpu",
	"provisioning/limit/memory",
	"provisioning/limit-larger",
	"provisioning/limit-nodes",
	"provisioning/preempting",
	"provisioning/volumes-starting/other-zone",
	"provisioning/volumes-starting/second-zone",
	"settings/devices-freed",
	"taints/startup",
	"taints/daemons",
	"taints/initialized",
	"taints/template/no-schedule",
	"taints/template/no-execute",
	"api/valid",
	"api/ready",
}

// prepares are the specs whose only change prepares the node for the pods that test it, where it may need no
// such preparation: one plays a device plugin, but KWOK's own nodes have what an overlay says as soon as they
// join; another makes Karpenter read a node again, which any change of the node does; a third labels a machine; one
// removes the taint that it claims stays away. Another only tidies up after nodes that never registered; one says of a
// volume claim what Kubernetes says a moment later; and the last one comes to no change: a finding keeps the node from
// being initialized.
var prepares = []string{
	"overlay/capacity", "provisioning/volumes-attached", "provisioning/spread-unmanaged", "chaos/startup-taint",
	"nodeclaim/registration-health", "provisioning/unstartable/volume-lost", "settings/devices-drift",
}

// TestVacuous runs every spec without its stimulus. A spec passes if it proves nothing that
// way.
func TestVacuous(t *testing.T) {
	e2e.Run(t, providers.Named("kwok"), append(withoutPods(t), withoutChanges(t)...)...)
}

// withoutPods returns the specs without the workloads, NodeClaims and NodeOverlays that they
// create, in the common namespace and in those of fixtures.Namespace. Nothing happens then, so none of their claims
// may hold.
func withoutPods(t *testing.T) []*e2e.Suite {
	t.Helper()
	stimuli := regexp.MustCompile("/namespaces/(" + session.Namespace + "|space-[^/]+)/|/nodeclaims/|/nodeoverlays/")
	workloads := regexp.MustCompile(`fixtures\.(Deployment|Pod|DaemonSet)\(`)
	return inert("without pods", func(suite *e2e.Suite, spec *e2e.Spec) *e2e.Inert {
		if suite == api.Suite && !workloads.MatchString(text(t, spec)) {
			return nil // it tests only the API server's answers
		}
		return &e2e.Inert{Quiet: quiet, NoneHolds: true, LeaveOut: func() func(*http.Request) bool {
			return func(r *http.Request) bool {
				return stimuli.MatchString(r.URL.Path) &&
					!strings.HasSuffix(r.URL.Path, "/events") // Env reports with Events what it does
			}
		}}
	})
}

// withoutChanges returns the specs that change or delete something, without those requests.
func withoutChanges(t *testing.T) []*e2e.Suite {
	t.Helper()
	changes := regexp.MustCompile(
		`(env\.(Change|Patch|Annotate|Remove|Delete|KeepUntainted)\w*|\bdeleteNodeClaim)\(ctx`)
	return inert("without changes", func(suite *e2e.Suite, spec *e2e.Spec) *e2e.Inert {
		if !changes.MatchString(text(t, spec)) || slices.Contains(prepares, spec.ID()) {
			return nil
		}
		i := &e2e.Inert{Quiet: quiet, LeaveOut: changingRequests, Lifts: slices.Contains(lifts, spec.ID())}
		if suite == expiration.Suite { // expiration goes on without any change
			i.Quiet = expired
		}
		return i
	})
}

// inert returns the suites with the specs for which f returns an Inert, except those that let
// months pass. With nothing happening for so long, the API server forgets where watches
// resume, and nothing can be judged.
func inert(without string, f func(*e2e.Suite, *e2e.Spec) *e2e.Inert) []*e2e.Suite {
	var all []*e2e.Suite
	for _, suite := range behaviours() {
		made := e2e.NewSuite(suite.Name + " " + without)
		for _, spec := range suite.Specs() {
			if i := f(suite, spec); i != nil && !spec.Leaps() {
				i.Spec, i.Without = spec, strings.ReplaceAll(without, " ", "-")
				made.Add(i.Inerted())
			}
		}
		all = append(all, made)
	}
	return all
}

// changingRequests returns a filter for requests that change or delete an object. It does not
// match those that create one, which include the first apply.
func changingRequests() func(*http.Request) bool {
	made := map[string]bool{}
	return func(r *http.Request) bool {
		switch {
		case r.Method == http.MethodDelete, r.Method == http.MethodPut:
			return true
		case r.Method != http.MethodPatch:
			return false
		}
		before := made[r.URL.Path]
		made[r.URL.Path] = true
		return before || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch")
	}
}

// text returns the file that declares a spec.
func text(t *testing.T, spec *e2e.Spec) string {
	t.Helper()
	file, _, _ := strings.Cut(spec.Source(), ":")
	content, err := os.ReadFile(file)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(content)
}
