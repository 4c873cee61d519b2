package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// succession is how the old leader ends.
type succession struct {
	name string
	end  func(context.Context, *e2e.Env)
}

// The new controller acts as soon as the lease of the old one is over: at once if that gave it back,
// and after its 15 s if the leader died. Pods wait for a node as long as nobody leads.
//
// Source: Karpenter: pkg/operator/operator.go, LeaderElectionReleaseOnCancel; controller-runtime:
// pkg/manager/manager.go, defaultLeaseDuration.
var _ = e2e.Table(Suite, map[string]succession{
	"handed-over": {"launches nodes within a lease of the new controller's start", endedByUpgrade},
	"crashed":     {"launches nodes within a lease after a leader that died", killed},
}, func(s succession) e2e.Spec {
	return e2e.Spec{
		Name:   s.name,
		Within: 5 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).OnePodPerNode().On(pool)
			env.Launch(ctx, 1, pool, app)
			env.UpgradeCRDs(ctx)
			s.end(ctx, env)
			env.UpgradeController(ctx)

			before := env.Mark()
			env.Create(ctx, late.PodAntiAffinity(app, "kubernetes.io/hostname"))
			env.Await(ctx, 1, check.RunningPods(late))

			env.Expect(env.Since(before), check.Within(karpenter.Lease+2*karpenter.Settled,
				check.LeadsTo(check.AtLeast(1, check.PodsOf(late)), check.AtLeast(1, check.NodeClaims(pool).New(before)))))
		},
	}
})

// endedByUpgrade does nothing: the upgrade ends the old controller by a signal.
func endedByUpgrade(context.Context, *e2e.Env) {}

func killed(ctx context.Context, env *e2e.Env) { env.KillController(ctx) }
