package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// territory is how a term of affinity says in which namespaces the pods are that it means. The space is
// another namespace.
type territory struct {
	of string
	by func(search, *fixtures.Space) *fixtures.Term
}

// A term of pod affinity or anti-affinity is about pods of its own namespace, unless it says
// which others. Tenants with a namespace each must not move each other's pods. A pod that
// must be near another tenant's cache needs a node where it is.
//
// Source: namespaces and namespaceSelector of podAffinity and podAntiAffinity, of the Pod
// API; https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = e2e.Table(Suite, map[string]territory{
	"own": {"of their own namespace", func(s search, space *fixtures.Space) *fixtures.Term {
		s.other.In(space)
		return s.term()
	}},
	"named": {"of a namespace that is named", func(s search, space *fixtures.Space) *fixtures.Term {
		s.meant.In(space)
		return s.term().InNamespace(space)
	}},
	"selected": {"of namespaces that a selector selects", func(s search, space *fixtures.Space) *fixtures.Term {
		s.meant.In(space.Label(team, space.GetName()))
		return s.term().InNamespacesOf(team, space.GetName()).InNamespacesWhere(team, fixtures.In, space.GetName()).
			InNamespacesWhere(stale, fixtures.DoesNotExist)
	}},
	"all": {"of all namespaces", func(s search, space *fixtures.Space) *fixtures.Term {
		s.meant.In(space)
		return s.term().Of(color, "red").InAllNamespaces()
	}},
}, func(t territory) e2e.Spec {
	return e2e.Spec{
		Name: "places pods near or apart from those " + t.of,
		Run: func(ctx context.Context, env *e2e.Env) {
			s, space := newSearch(), fixtures.Namespace()
			term := t.by(s, space)
			env.Create(ctx, space, s.there, s.meant, s.other)
			env.Await(ctx, 1, check.RunningPods(s.meant))
			env.Await(ctx, 1, check.RunningPods(s.other))

			before := env.Mark()
			env.Create(ctx, s.nearPool, s.near.Near(term), s.apartPool, s.apart.Apart(term))
			env.Await(ctx, 1, check.RunningPods(s.near))
			env.Await(ctx, 1, check.RunningPods(s.apart))

			env.Expect(env.Since(before), onlyInRack(s.nearPool, "a"), onlyInRack(s.apartPool, "b"))
		},
	}
})
