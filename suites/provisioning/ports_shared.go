package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods share a node although their host ports have the same number, if no packet can be
// for both of them. A name server, for example, takes one port for UDP and for TCP. A node
// for each of the pods would cost more for nothing.
//
// Source: hostPort, protocol and hostIP of the Pod API;
// https://kubernetes.io/docs/concepts/configuration/overview, "General Configuration Tips".
var _ = e2e.Table(Suite, map[string]sharedPort{
	"protocols": {"protocol", func(one, other *fixtures.Workload) {
		one.HostPort(port)
		other.HostPortBy("UDP", port)
	}},
	"addresses": {"address", func(one, other *fixtures.Workload) {
		one.HostPortAt("127.0.0.1", port)
		other.HostPortAt("127.0.0.2", port)
	}},
}, func(row sharedPort) e2e.Spec {
	return e2e.Spec{
		Name: "lets pods share a node whose host ports differ in " + row.what,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			one, other := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool)
			row.listen(one, other)

			before := env.Mark()
			env.Create(ctx, one, other)
			env.Await(ctx, 1, check.UnschedulablePods(one))
			env.Await(ctx, 1, check.UnschedulablePods(other))
			env.Create(ctx, pool)
			env.Await(ctx, 1, check.RunningPods(one))
			env.Await(ctx, 1, check.RunningPods(other))

			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
		},
	}
})

// sharedPort gives two workloads host ports that differ in something else than the number.
type sharedPort struct {
	what   string
	listen func(one, other *fixtures.Workload)
}
