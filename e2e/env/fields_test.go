package env

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

func TestTheFieldsOfASpecsObjects(t *testing.T) {
	g := NewWithT(t)
	var r Result
	g.Expect(r.Fields()).To(BeEmpty())
	pool := fixtures.NodePool().Weight(3).Limit("cpu", "4").Taint("team", fixtures.NoSchedule).Label("a", "b")
	r.sets(pool.Unstructured())
	r.sets(fixtures.Deployment(1).On(pool).CPU("1").Unstructured())
	r.sets(fixtures.PriorityClass(5).Unstructured())
	g.Expect(r.Fields()).To(Equal([]string{
		"Deployment.spec.replicas", "Deployment.spec.selector.matchLabels",
		"NodePool.spec.disruption.budgets.nodes", "NodePool.spec.disruption.consolidateAfter", "NodePool.spec.limits",
		"NodePool.spec.template.metadata.labels", "NodePool.spec.template.spec.expireAfter",
		"NodePool.spec.template.spec.taints.effect", "NodePool.spec.template.spec.taints.key", "NodePool.spec.weight",
		"Pod.spec.containers.image", "Pod.spec.containers.name", "Pod.spec.containers.resources.requests",
		"Pod.spec.nodeSelector", "Pod.spec.terminationGracePeriodSeconds", "PriorityClass.value",
	}))
}
