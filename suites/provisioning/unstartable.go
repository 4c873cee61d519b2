package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches nothing for a pod that the scheduler places on no node, since what
// the pod claims can't be had. It would launch a node, remove it as empty, and launch the
// next. Another pod gets its node meanwhile.
//
// Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes and
// https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation;
// https://github.com/kubernetes-sigs/karpenter/pull/2488 and
// https://github.com/kubernetes-sigs/karpenter/pull/2384.
var _ = e2e.Table(Suite, map[string]unstartable{
	"volume-ends": {"whose volume claim is being deleted", "", "<1.9.0", "2488", "", mountEnding},
	"volume-lost": {"whose volume is lost", "", "<1.9.0", "2488", `claimRef:\n +name: .*winner`, mountLost},
	"device":      {"whose container uses a device", "1.34", "<1.9.0", "2384", "resourceClaims:", useUnknown},
	"device-held": {"that claims an unused device", "1.34", "<1.14.0", "2384", "resourceClaims:", claimUnknown},
}, func(row unstartable) e2e.Spec {
	return e2e.Spec{
		Name:  "launches nothing for a pod " + row.which,
		Since: e2e.Since{Kubernetes: row.since},
		Known: []e2e.Known{{
			Releases: row.broken,
			Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/" + row.mended,
			Reason:   "a node is launched for a pod that can't run on it",
			Breaks:   []string{"^always no NodeClaims", "launched nodes take pods that they were launched for"},
			Explored: row.explored,
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool, other := fixtures.NodePool(), fixtures.NodePool()
			hopeless, modest := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(other)
			row.spoil(ctx, env, hopeless)

			before := env.Mark()
			env.Create(ctx, hopeless, modest)
			env.Await(ctx, 1, check.UnschedulablePods(hopeless))
			env.Create(ctx, pool, other)
			env.Await(ctx, 1, check.RunningPods(modest))
			env.Observe(ctx, karpenter.PodsRetried)

			env.Expect(env.Since(before), passedOver(pool, hopeless), check.Always(check.AtMost(1, check.NodeClaims(other))))
		},
	}
})

// unstartable is a pod that the scheduler refuses everywhere.
type unstartable struct {
	which    string
	since    string // first release of Kubernetes; empty: any
	broken   string // releases of Karpenter that launch a node: seen in v1.6.4, and the last row in v1.9.0 and v1.12.0
	mended   string // the number of the pull request that ended this
	explored string // as in e2e.Known
	spoil    func(context.Context, *e2e.Env, *fixtures.Workload)
}

// mountEnding mounts a volume claim that is being deleted. Another pod keeps it.
func mountEnding(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
	pool := fixtures.NodePool()
	volume, claim := fixtures.Volume()
	user := fixtures.Deployment(1).On(pool).Mount(claim)
	env.Create(ctx, pool, volume, claim, user)
	env.Await(ctx, 1, check.RunningPods(user))
	env.Delete(ctx, claim)
	app.Mount(claim)
}

// mountLost mounts a volume claim that has lost its volume, beside a claim that has one. Kubernetes
// would say so a moment later.
func mountLost(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
	volume, claim := fixtures.Volume()
	lost, without := fixtures.LostVolume()
	env.Create(ctx, volume, claim, lost, without)
	env.PatchStatus(ctx, without, `{"status":{"phase":"Lost"}}`)
	app.Mount(claim).Mount(without)
}

func useUnknown(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
	device := fixtures.ResourceClaim("nowhere")
	env.Create(ctx, device)
	app.Claim(device).Use(device)
}

func claimUnknown(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
	device := fixtures.ResourceClaim("nowhere")
	env.Create(ctx, device)
	app.Claim(device)
}
