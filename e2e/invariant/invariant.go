// Package invariant holds the checks that hold in every spec, whatever it was
// about. Each is a pure function of a recording, named after the guarantee
// that it judges.
//
// Every run applies them to the recording of every spec, and a spec fails if one
// breaks, unless it says that it means to (e2e.Spec.Breaks). `plumbline judge`
// (make judge FILE=...) applies them to saved recordings, without a cluster.
package invariant

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Invariant is one guarantee.
type Invariant struct {
	// Name is the guarantee in a few words, such as "budgets are never exceeded".
	// A spec that breaks it on purpose gives this name.
	Name string
	// Source says who promises it: an API field, a design document, an issue.
	Source string
	// Check makes the check that judges it.
	Check func(Params) check.Check
}

// Params is what a judge must know beside the recording. The zero value is
// right for a provider without peculiarities.
type Params struct {
	// NodeClass is the kind of the provider's NodeClass.
	// Empty: any kind that was recorded beside Kubernetes' and Karpenter's own.
	NodeClass schema.GroupVersionResource
	// Controller is the namespace of the provider's controller; empty: kube-system.
	Controller string
}

// All lists every invariant, in the order in which reports show them.
func All() []Invariant {
	return []Invariant{
		budgetsHeld(),
		limitsHeld(),
		ledgerCloses(),
		stagesInOrder(),
		registeredWhole(),
		asAsked(),
		taintedFirst(),
		replacedFirst(),
		protectedPods(),
		podBudgetsHeld(),
		boundedDrain(),
		instanceFirst(),
		fromTemplate(),
		settledClaims(),
		comesToRest(),
		steadyController(),
		wellFormed(),
	}
}

// Judge judges a recording by every invariant and returns their findings, in
// the order of All. Where the API server was taken away on purpose, something is
// missing: what is seen before and meanwhile can break an invariant, and what comes
// after is judged like a recording of its own.
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
