package env

import (
	"context"
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// SkewController starts the provider's controller anew, as KillController does, with a wall clock that is ahead of the
// API server's, or behind it if ahead is negative. Time passes equally fast for both. It stays so until the spec ends;
// the cluster is not used again. The spec is skipped where clocks can't be set.
func (e *Env) SkewController(ctx context.Context, ahead time.Duration) {
	skewer, can := e.place.Cluster.(cluster.Skewer)
	if !can {
		e.skip("the backend has no way to set the controller's clock")
	}
	killer := e.killer()
	err := e.restart(ctx, fmt.Sprintf("started anew by the spec, with a clock that is %s ahead", ahead),
		func(ctx context.Context, namespace, name string) error {
			if err := skewer.Skew(ctx, namespace, name, ahead); err != nil {
				e.skip("%v", err)
			}
			e.skewed = true
			return killer.Kill(ctx, namespace, name)
		})
	if err != nil {
		e.fail(ctx, "setting the controller's clock: %w", err)
	}
}

// Skewed reports whether the controller has another time than the cluster.
func Skewed(e *Env) bool { return e.skewed }
