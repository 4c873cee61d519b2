// Package invariant holds the checks that apply to every spec. Each is a pure function of a
// recording, named after the guarantee that it judges.
//
// Every run applies them to the recording of every spec. A breach fails the spec, unless the
// spec breaks it on purpose and declares so (e2e.Spec.Breaks). `plumbline judge` (make judge
// FILE=...) applies them to saved recordings, without a cluster.
package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Invariant is one guarantee.
type Invariant struct {
	// Name is the guarantee in a few words, such as "disruption budgets are never exceeded".
	// Specs that break it on purpose give this name.
	Name string
	// Source is where it is promised: an API field, a design document, an issue.
	Source string
	// Untested says what never happened if nothing put it to the test.
	Untested string
	// OnlyHere says why recordings of clusters that the harness didn't start (package record)
	// can't be judged by it; empty if they can.
	OnlyHere string
	// Reads are the resources whose events its monitor observes; all, if empty.
	Reads []schema.GroupVersionResource
	// New returns a monitor that judges one recording.
	New func(Params) check.Monitor
}

// resources is the type of Invariant.Reads.
type resources = []schema.GroupVersionResource

// Check returns the invariant as a check.
func (i Invariant) Check(p Params) check.Check {
	return check.Follow(i.Name, i.Untested, func() check.Monitor { return i.New(p) }, i.Reads...)
}

// Params is what a judge must know besides the recording. The zero value suits a provider
// without peculiarities.
type Params struct {
	// NodeClass is the resource of the provider's NodeClass. Empty means any recorded one
	// besides Kubernetes' and Karpenter's own.
	NodeClass schema.GroupVersionResource
	// Controller is the namespace of the provider's controller; empty means that it may run in any.
	Controller string
	// InstanceGC is how long the provider may take to end an instance without a NodeClaim; less
	// than five minutes count as five.
	InstanceGC time.Duration
	// Images says that the provider starts machines from images, and NodeClaims say which.
	Images bool
	// Core is the release of Karpenter core, such as v1.15.0. Empty means that nobody knows it;
	// what a release may lack isn't judged then.
	Core string
}

func (p Params) isNodeClass(r schema.GroupVersionResource) bool {
	if !p.NodeClass.Empty() {
		return r == p.NodeClass
	}
	return r.Group != "" && r.Group != karpenter.Group && r != karpenter.Deployments
}

// All returns every invariant, in the order of reports.
func All() []Invariant {
	return []Invariant{
		disruptionBudgetsHold(),
		poolLimitsHold(),
		staticPoolsHold(),
		lifecycleCloses(),
		stagesInOrder(),
		joinsByID(),
		registeredWhole(),
		matchesRequest(),
		taintedFirst(),
		replacedFirst(),
		doNotDisruptHolds(),
		podBudgetsHold(),
		drainsInOrder(),
		instanceEndsFirst(),
		madeFromTemplate(),
		keepsSpecAndHash(),
		driftNoticed(),
		comesToRest(),
		controllerStaysUp(),
		reasonsAreTrue(),
		deletedForAReason(),
		launchesServePods(),
		nothingMissed(),
		expiresInTime(),
		consolidatesByPolicy(),
		conditionsWellFormed(),
		emptyNodesGo(),
	}
}

// Judge judges a recording by every invariant and returns their findings, in the order of All.
//
// A recording has a gap where a spec took the API server away on purpose. Events before and
// during it can break an invariant. The part after it is judged like a recording of its own.
func Judge(h *history.History, p Params) []check.Finding {
	var checks []check.Check
	for _, i := range All() {
		checks = append(checks, i.Check(p))
	}
	findings := check.Judge(h, checks...)
	after, interrupted := h.AfterInterruption()
	if !interrupted {
		return findings
	}
	for i, f := range check.Judge(after, checks...) {
		if findings[i].Verdict == check.Unknown {
			findings[i] = f
		}
	}
	return findings
}
