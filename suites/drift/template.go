package drift

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A change of any static field of a pool's template makes the nodes launched from it
// drift. Karpenter replaces them with nodes that have the change. Changes reach existing
// nodes this way.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Static fields";
// designs/drift-hash-versioning.md. Startup taints have a spec of their own.
var _ = e2e.Table(Suite, map[string]templateChange{
	"labels": {
		"labels change", func(p *fixtures.Pool) { p.Label(drifted, "yes") },
		check.Nodes, check.Labeled(drifted, "yes"),
	},
	"annotations": {
		"annotations change", func(p *fixtures.Pool) { p.Annotation(drifted, "yes") },
		check.Nodes, check.Annotated(drifted, "yes"),
	},
	"taints": {
		"taints change", func(p *fixtures.Pool) { p.Taint(drifted, fixtures.NoSchedule) },
		check.Nodes, check.Tainted(drifted),
	},
	"expire-after": {
		"expireAfter changes", func(p *fixtures.Pool) { p.ExpireAfter("720h") },
		check.NodeClaims, hasDuration("expireAfter", 720*time.Hour),
	},
	"termination-grace-period": {
		"terminationGracePeriod changes", func(p *fixtures.Pool) { p.TerminationGracePeriod("5m") },
		check.NodeClaims, hasDuration("terminationGracePeriod", 5*time.Minute),
	},
}, func(c templateChange) e2e.Spec {
	return e2e.Spec{
		Name: "replaces nodes when their template's " + c.what,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool).Tolerate(drifted)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			before := env.Mark()
			c.change(pool)
			env.Change(ctx, pool)
			env.Await(ctx, 1, check.DriftedNodeClaims(pool))
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
			env.Await(ctx, 0, check.Nodes(pool).Old(before))

			changed := c.on(pool).New(before).With("and have the change", c.shows)
			env.Expect(env.Since(before), check.ActsOnDrift(pool),
				check.LeadsTo(check.AtLeast(1, check.DriftedNodeClaims(pool)), check.AtLeast(1, changed)))
		},
	}
})

// drifted is the key of a label, an annotation or a taint.
const drifted = fixtures.Domain + "/drift"

// templateChange is a change of a template, and how it shows on the new nodes or NodeClaims.
type templateChange struct {
	what   string
	change func(*fixtures.Pool)
	on     func(check.Named) check.Count
	shows  check.Predicate
}

// hasDuration tells whether a field of a NodeClaim's spec is a duration of this length.
func hasDuration(field string, length time.Duration) check.Predicate {
	return func(nodeClaim *unstructured.Unstructured) bool {
		said, _, _ := unstructured.NestedString(nodeClaim.Object, "spec", field)
		d, err := time.ParseDuration(said)
		return err == nil && d == length
	}
}
