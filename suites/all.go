// Package suites lists the suites: what is promised of every Karpenter
// provider, one package for each behaviour, one file for each promise.
//
// A provider's whole test hands them to the harness:
//
//	func TestConformance(t *testing.T) {
//		e2e.Run(t, providers.Load("plumbline.yaml"), suites.All()...)
//	}
//
// Part of them is chosen by naming packages instead:
//
//	e2e.Run(t, adapter, drift.Suite, budgets.Suite)
//
// # What a spec may rely on
//
// A spec is about one provider that it knows nothing of but capabilities. It
// brings its own NodePools and workloads, whose names nobody else has, and
// may run on a cluster on which other specs have run before. Its pods bring
// their own restrictions: they select the pool that they are meant for, and
// tolerate no taint that the spec doesn't speak of.
//
// # What makes a spec one that can fail
//
// "Nothing happens" is proven by something that does happen, in the same spec
// and for the same cause: a pool whose budget holds drift back stands beside
// one that drifts, and drifts itself once the budget is lifted; a change that
// doesn't drift is followed by one that does. Limits are put under pressure:
// more pods than they allow, more nodes than the budget allows.
package suites

import (
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/suites/api"
	"github.com/plumbline-e2e/plumbline/suites/budgets"
	"github.com/plumbline-e2e/plumbline/suites/buffer"
	"github.com/plumbline-e2e/plumbline/suites/chaos"
	"github.com/plumbline-e2e/plumbline/suites/cloud"
	"github.com/plumbline-e2e/plumbline/suites/consolidation"
	"github.com/plumbline-e2e/plumbline/suites/controls"
	"github.com/plumbline-e2e/plumbline/suites/conversion"
	"github.com/plumbline-e2e/plumbline/suites/deletioncost"
	"github.com/plumbline-e2e/plumbline/suites/drift"
	"github.com/plumbline-e2e/plumbline/suites/expiration"
	"github.com/plumbline-e2e/plumbline/suites/migration"
	"github.com/plumbline-e2e/plumbline/suites/nodeclaim"
	"github.com/plumbline-e2e/plumbline/suites/overlay"
	"github.com/plumbline-e2e/plumbline/suites/provisioning"
	"github.com/plumbline-e2e/plumbline/suites/repair"
	"github.com/plumbline-e2e/plumbline/suites/settings"
	"github.com/plumbline-e2e/plumbline/suites/static"
	"github.com/plumbline-e2e/plumbline/suites/taints"
	"github.com/plumbline-e2e/plumbline/suites/termination"
	"github.com/plumbline-e2e/plumbline/suites/upgrade"
)

// all is made when the package is loaded, since it changes its suites.
var all = e2e.Catalogue(
	api.Suite,
	provisioning.Suite,
	settings.Suite,
	nodeclaim.Suite,
	taints.Suite,
	drift.Suite,
	expiration.Suite,
	consolidation.Suite,
	budgets.Suite,
	controls.Suite,
	termination.Suite,
	migration.Suite,
	conversion.Suite,
	static.Suite,
	repair.Suite,
	buffer.Suite,
	overlay.Suite,
	deletioncost.Suite,
	chaos.Suite,
	cloud.Suite,
)

// All returns every suite of `make e2e`, in the order of a node's life.
func All() []*e2e.Suite { return withTimes(slices.Clone(all)) }

// Apart returns the suites of other runs: `make upgrade`.
func Apart() []*e2e.Suite { return []*e2e.Suite{upgrade.Suite} }
