package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// meaning is how a term of affinity says which pods it means.
type meaning struct {
	those string
	since string // first release of Kubernetes; empty: any
	by    func(*fixtures.Term) *fixtures.Term
}

// A term of pod affinity or anti-affinity selects pods by labels, and Karpenter counts the
// pods that it selects and no others. Users write one term for many workloads, such as
// "near the cache of my own tenant". A wrong count makes nodes where the pods can't run.
//
// Source: labelSelector, matchLabelKeys and mismatchLabelKeys of podAffinity and
// podAntiAffinity, of the Pod API; https://karpenter.sh/docs/concepts/scheduling,
// "Pod affinity/anti-affinity".
var _ = e2e.Table(Suite, map[string]meaning{
	"in": {"have one of several label values", "", func(t *fixtures.Term) *fixtures.Term {
		return t.Where(color, fixtures.In, "green", "red")
	}},
	"not-in": {"have no excluded label value", "", func(t *fixtures.Term) *fixtures.Term {
		return t.Where(color, fixtures.NotIn, "blue", "green")
	}},
	"exists": {"have a label", "", func(t *fixtures.Term) *fixtures.Term {
		return t.Where(fresh, fixtures.Exists)
	}},
	"does-not-exist": {"lack a label", "", func(t *fixtures.Term) *fixtures.Term {
		return t.Where(stale, fixtures.DoesNotExist)
	}},
	"match-label-keys": {"have the same label value", "1.31", func(t *fixtures.Term) *fixtures.Term {
		return t.ByLabel(color)
	}},
	"mismatch-label-keys": {"have another label value", "1.31", func(t *fixtures.Term) *fixtures.Term {
		return t.ButLabel(tenant)
	}},
}, func(m meaning) e2e.Spec {
	return e2e.Spec{
		Name:  "places pods near or apart from those that " + m.those,
		Since: e2e.Since{Kubernetes: m.since},
		Run: func(ctx context.Context, env *e2e.Env) {
			s := newSearch()
			term := m.by(s.term())
			env.Create(ctx, s.there, s.meant, s.other)
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

// Labels of the pods of a search.
const (
	color  = fixtures.Domain + "/color"
	tenant = fixtures.Domain + "/tenant"
	fresh  = fixtures.Domain + "/fresh" // only on the pods that are meant
	stale  = fixtures.Domain + "/stale" // only on the others
)

// search is about pods that a term means, in rack a, and others in rack b. The pods that must be near
// those, or apart from them, are on nodes of other pools.
type search struct {
	there, nearPool, apartPool *fixtures.Pool
	meant, other, near, apart  *fixtures.Workload
}

func newSearch() search {
	s := search{there: racks(), nearPool: racks(), apartPool: racks()}
	of := func(pool *fixtures.Pool) *fixtures.Workload { return fixtures.Deployment(1).On(pool) }
	group := s.there.GetName()
	s.meant = of(s.there).Select(rack, "a").Label(team, group).Label(color, "red").Label(tenant, "x").Label(fresh, "yes")
	s.other = of(s.there).Select(rack, "b").Label(team, group).Label(color, "blue").Label(tenant, "y").Label(stale, "yes")
	s.near = of(s.nearPool).Label(color, "red").Label(tenant, "y")
	s.apart = of(s.apartPool).Label(color, "red").Label(tenant, "y")
	return s
}

// term returns a term about racks that means the two running workloads.
func (s search) term() *fixtures.Term { return fixtures.PodTerm(rack).Of(team, s.there.GetName()) }

// racks returns a pool whose nodes are in rack a or b.
func racks() *fixtures.Pool { return fixtures.NodePool().Require(rack, fixtures.In, "a", "b") }

// onlyInRack checks that all NodeClaims of a pool require a rack.
func onlyInRack(pool *fixtures.Pool, name string) check.Check {
	return check.Always(check.Each(check.NodeClaims(pool), "require rack "+name, check.Requiring(rack, name)))
}
