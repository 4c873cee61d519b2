package env

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
)

// Upgrade upgrades the provider to the other release, in the order of Karpenter's upgrade guide:
// its CRDs, then its controller. The spec needs Spec.Upgrades.
func (e *Env) Upgrade(ctx context.Context) {
	e.UpgradeCRDs(ctx)
	e.UpgradeController(ctx)
}

// UpgradeCRDs applies the other release's CRDs, as `kubectl apply` does.
func (e *Env) UpgradeCRDs(ctx context.Context) { e.applyCRDs(ctx, e.place.To) }

// UpgradeController upgrades the controller's chart or manifests, as `helm upgrade` does: the
// Deployment ends the old controller and starts the new one. It returns when the new one is ready,
// which may be before it leads.
func (e *Env) UpgradeController(ctx context.Context) { e.changeController(ctx, e.place.To) }

// StopController ends the controller, as `kubectl scale --replicas=0` does. UpgradeController
// starts the next one.
func (e *Env) StopController(ctx context.Context) {
	e.upgraded = true
	if err := e.place.Provider.Stop(ctx); err != nil {
		e.fail(ctx, "stopping the controller: %w", err)
	}
}

// Downgrade goes back to the release that the provider was upgraded from, in the opposite order:
// its controller, then its CRDs. The outcome notes the fields that those lack.
func (e *Env) Downgrade(ctx context.Context) {
	e.changeController(ctx, e.place.From)
	e.applyCRDs(ctx, e.place.From)
	if lost := e.place.From.Lost(e.place.To); len(lost) > 0 {
		e.result.Notes = append(e.result.Notes, "going back loses what is stored in "+strings.Join(lost, ", "))
	}
}

// Upgraded reports whether the spec has changed the provider's release or CRDs.
func Upgraded(e *Env) bool { return e.upgraded }

func (e *Env) applyCRDs(ctx context.Context, to *install.Prepared) {
	e.recorder.ExpectClosing()
	e.changeRelease(ctx, "the CRDs", to, e.place.Provider.UpgradeCRDs)
	meta.MaybeResetRESTMapper(e.place.Mapper)
	e.Observe(ctx, enforcedWithin) // until the API server serves them
}

func (e *Env) changeController(ctx context.Context, to *install.Prepared) {
	e.changeRelease(ctx, "the controller", to, e.place.Provider.Upgrade)
}

// changeRelease takes a step to another release, and records when it began and ended.
func (e *Env) changeRelease(ctx context.Context, what string, to *install.Prepared,
	step func(context.Context, *install.Prepared) error,
) {
	if to == nil {
		e.skip("no release to upgrade to is given")
	}
	e.upgraded = true
	source, core := to.Version()
	what = fmt.Sprintf("%s: release %s (Karpenter core %s)", what, source, core)
	err := e.announce(ctx, invariant.ReasonUpgrade, what)
	if err == nil {
		err = step(ctx, to)
	}
	if err == nil {
		err = e.announce(ctx, invariant.ReasonUpgrade, what+": done")
	}
	if err != nil {
		e.fail(ctx, "%s: %w", what, err)
	}
}
