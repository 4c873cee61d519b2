package nodeclaim

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter deletes a NodeClaim that can't be launched for five minutes. The deletion
// tells its creator, and nothing retries forever. Here the NodeClaim asks for an instance
// type that doesn't exist.
//
// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go, LaunchTimeout; condition
// Launched of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:   "is given up when it can't be launched for five minutes",
	Since:  e2e.Since{Karpenter: "1.7"},
	Within: 7 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().Require(corev1.LabelInstanceTypeStable, fixtures.In, "missing-type")
		nodes := newNodes(env, nodeClaim)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).With("with the condition Launched", func(o *unstructured.Unstructured) bool {
			_, has := karpenter.Condition(o, karpenter.Launched)
			return has
		}))
		env.AgeCondition(ctx, nodeClaim, karpenter.Launched, launchTimeout-2*time.Minute)
		env.Await(ctx, 0, check.The(nodeClaim))

		env.Expect(env.Since(before),
			check.Always(check.None(nodes)),
			check.Within(launchTimeout, check.LeadsTo(check.AtLeast(1, check.The(nodeClaim)), check.None(check.The(nodeClaim)))))
	},
})

// launchTimeout is a minute more than Karpenter's timeout, after which it checks again.
const launchTimeout = karpenter.LaunchTimeout + time.Minute
