package nodeclaim

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// missing is the name of a NodeClass that does not exist.
const missing = "missing-nodeclass"

// A NodeClaim gets no node if its NodeClass doesn't exist. Karpenter deletes it, and an
// event names the NodeClass. Any other node would be a machine that nobody described.
// Without the event, the NodeClaim would just disappear.
//
// Source: spec.nodeClassRef of the NodeClaim API; Karpenter's regression suite,
// "should delete a NodeClaim if it references a NodeClass that doesn't exist".
var _ = Suite.Add(e2e.Spec{
	Name: "is given up when its NodeClass doesn't exist, and an event says so",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().NodeClassCalled(missing)
		nodes := newNodes(env, nodeClaim)
		told := check.Where("events that name its NodeClass", karpenter.Events, func(event *unstructured.Unstructured) bool {
			return karpenter.EventInvolved(event).Name == nodeClaim.GetName() && strings.Contains(karpenter.EventMessage(event),
				missing)
		})

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Observe(ctx, 2*karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.None(nodes)),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim)), check.None(check.The(nodeClaim))),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim)), check.AtLeast(1, told)))
	},
})
