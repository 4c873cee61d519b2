package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// abroad makes a term mean pods in a namespace that the term's pod isn't in.
type abroad struct {
	whose string
	means func(*fixtures.Term, *fixtures.Space)
}

// A preference about other pods says in which namespaces they are, as a rule does. A pod that wants
// to be near another team's cache gets a node where the cache is.
//
// Source: namespaces and namespaceSelector of podAffinityTerm in
// preferredDuringSchedulingIgnoredDuringExecution of podAffinity and podAntiAffinity, of the Pod
// API; https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = e2e.Table(Suite, map[string]abroad{
	"named": {"whose namespace they name", func(t *fixtures.Term, space *fixtures.Space) { t.InNamespace(space) }},
	"selected": {"whose namespace they select", func(t *fixtures.Term, space *fixtures.Space) {
		t.InNamespacesOf(team, space.GetName()).InNamespacesWhere(team, fixtures.In, space.GetName())
	}},
}, func(a abroad) e2e.Spec {
	return e2e.Spec{
		Name: "follows preferences about pods " + a.whose,
		Run: func(ctx context.Context, env *e2e.Env) {
			s, space := newSearch(), fixtures.Namespace()
			term := s.term()
			a.means(term, space)
			env.Create(ctx, space.Label(team, space.GetName()), s.there, s.meant.In(space))
			env.Await(ctx, 1, check.RunningPods(s.meant))

			before := env.Mark()
			env.Create(ctx, s.nearPool, s.near.PreferNear(50, term), s.apartPool, s.apart.PreferApart(50, term))
			env.Await(ctx, 1, check.RunningPods(s.near))
			env.Await(ctx, 1, check.RunningPods(s.apart))

			env.Expect(env.Since(before), onlyInRack(s.nearPool, "a"), onlyInRack(s.apartPool, "b"))
		},
	}
})
