// Package invariant holds the checks that hold in every spec, whatever it is about. Each is a pure function of a
// recording, named after the guarantee that it judges.
//
// Every run applies them to the recording of every spec. A spec fails if one breaks, unless it breaks it on purpose and
// says so (e2e.Spec.Breaks). `plumbline judge` (make judge FILE=...) applies them to saved recordings, without a
// cluster.
package invariant

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Invariant is one guarantee.
type Invariant struct {
	// Name is the guarantee in a few words, such as "disruption budgets are never exceeded". A spec that breaks it on
	// purpose gives this name.
	Name string
	// Source says who promises it: an API field, a design document, an issue.
	Source string
	// Untested says what never happened if nothing put it to the test.
	Untested string
	// Reads are the resources whose events its monitor observes; all, if there are none.
	Reads []schema.GroupVersionResource
	// New makes a monitor that judges one recording.
	New func(Params) check.Monitor
}

// resources is for Invariant.Reads.
type resources = []schema.GroupVersionResource

// Check is the check that judges it.
func (i Invariant) Check(p Params) check.Check {
	return check.Follow(i.Name, i.Untested, func() check.Monitor { return i.New(p) }, i.Reads...)
}

// Params is what a judge must know beside the recording. The zero value is right for a provider without peculiarities.
type Params struct {
	// NodeClass is the kind of the provider's NodeClass.
	// Empty: any kind that was recorded beside Kubernetes' and Karpenter's own.
	NodeClass schema.GroupVersionResource
	// Controller is the namespace of the provider's controller; empty: kube-system.
	Controller string
}

// isNodeClass says whether a kind is the provider's NodeClass.
func (p Params) isNodeClass(r schema.GroupVersionResource) bool {
	if !p.NodeClass.Empty() {
		return r == p.NodeClass
	}
	return r.Group != "" && r.Group != karpenter.Group && r != karpenter.Deployments
}

// All lists every invariant, in the order in which reports show them.
func All() []Invariant {
	return []Invariant{
		disruptionBudgetsHold(),
		poolLimitsHold(),
		lifecycleCloses(),
		stagesInOrder(),
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
		comesToRest(),
		controllerStaysUp(),
		conditionsWellFormed(),
	}
}

// Judge judges a recording by every invariant and returns their findings, in the order of All.
//
// A recording has a gap where a spec took the API server away on purpose. What is seen before and meanwhile can break
// an invariant; what comes after is judged like a recording of its own.
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
