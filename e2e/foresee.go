package e2e

import (
	"context"
	"errors"
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Forecast says what a run would do.
type Forecast struct {
	Provider install.Found
	Run      int    // specs that would run
	Known    int    // those of them that are known to fail
	Skipped  []Skip // specs that would not run, by the reason; the most frequent first
}

// Skip is a reason why specs don't run.
type Skip struct {
	Reason string
	IDs    []string // of the specs, sorted
}

// Check tells what Run would do, without a cluster and without building the provider. It checks
// the adapter, its CRDs and its chart or manifests. Only a run finds out about specs that are
// skipped while they run: for a field that the CRDs lack, say.
func Check(ctx context.Context, c Config, a *providers.Adapter, progress func(string),
	suites ...*Suite,
) (Forecast, error) {
	if err := errors.Join(a.Validate(), checkIDsDiffer(suites), unknownKnownFailures(a, suites)); err != nil {
		return Forecast{}, err
	}
	_, specs, err := c.deal(a, suites)
	if err != nil {
		return Forecast{}, err
	}
	found, err := session.Check(ctx, c.setup(a, progress))
	if err != nil {
		return Forecast{}, err
	}
	f := Forecast{Provider: found}
	on := place{c.Gated(a), found.Core, c.Kubernetes, c.Speed.Bent(), c.upgrades(), c.backend.Services}
	return f, f.judge(on, specs)
}

// judge finds out which of some specs would run in a place.
func (f *Forecast) judge(on place, specs []chosen) error {
	for _, s := range specs {
		if why := skipReason(on, s.spec); why != "" {
			f.skip(why, s.spec.id)
			continue
		}
		known, err := knownFailure(s.spec, on.adapter, on.core)
		if err != nil {
			return err
		}
		f.Run++
		if known != nil {
			f.Known++
		}
	}
	slices.SortStableFunc(f.Skipped, func(a, b Skip) int { return len(b.IDs) - len(a.IDs) })
	return nil
}

func (f *Forecast) skip(reason, id string) {
	i := slices.IndexFunc(f.Skipped, func(s Skip) bool { return s.Reason == reason })
	if i < 0 {
		i = len(f.Skipped)
		f.Skipped = append(f.Skipped, Skip{Reason: reason})
	}
	f.Skipped[i].IDs = append(f.Skipped[i].IDs, id)
}
