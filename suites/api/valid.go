package api

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The condition ValidationSucceeded reports a NodePool's mistakes that the schema cannot
// find. The NodePool is then not ready, because it would launch nodes that nobody can
// use. The spec uses a value that no label can have.
//
// Source: condition ValidationSucceeded of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "reports mistakes of a pool that the schema can't refuse in a condition",
	Run: func(ctx context.Context, env *e2e.Env) {
		const path = "spec.template.spec.requirements"
		pool := fixtures.RawNodePool().Write(path, "[{key: plumbline.test/a, operator: In, values: [no label's]}]")
		before := env.Mark()
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.The(pool).SayingWhyNot(karpenter.ValidationSucceeded))
		env.Change(ctx, pool.Write(path, "[{key: plumbline.test/a, operator: In, values: [a-label-s]}]"))
		env.Await(ctx, 1, check.The(pool).In(karpenter.Ready))

		invalid := check.AtLeast(1, check.The(pool).SayingWhyNot(karpenter.ValidationSucceeded))
		env.Expect(env.Since(before),
			check.Sometimes(invalid),
			check.Always(check.When(invalid, check.None(check.The(pool).In(karpenter.Ready)))))
	},
})
