package api

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool's conditions report a missing or unready NodeClass, and why. The pool is
// then not ready. The conditions change as soon as this is fixed. Users waiting for nodes
// look there first.
//
// Source: conditions Ready and NodeClassReady of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "says in conditions whether a pool and its NodeClass are ready, and why not",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.RawNodePool().Write("spec.template.spec.nodeClassRef", "{name: missing-nodeclass}")
		before := env.Mark()
		env.Create(ctx, pool)
		env.Change(ctx, pool.Unwrite("spec.template.spec.nodeClassRef"))
		env.Await(ctx, 1, check.The(pool).In(karpenter.Ready))

		unready := check.AtLeast(1, check.The(pool).SayingWhyNot(karpenter.NodeClassReady))
		env.Expect(env.Since(before),
			check.Sometimes(unready),
			check.Always(check.When(unready, check.None(check.The(pool).In(karpenter.Ready)))))
	},
})
