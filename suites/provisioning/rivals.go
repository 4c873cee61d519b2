package provisioning

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Labels of pools, by which pods choose among them and are spread over them.
const (
	team    = fixtures.Domain + "/team"
	size    = fixtures.Domain + "/size" // a number
	rack    = fixtures.Domain + "/rack"
	nowhere = fixtures.Domain + "/nowhere" // of no pool
)

// rivals returns two pools. Pods among them get a node of the first, which has
// more weight, unless something that they ask for rules it out.
func rivals() (first, second *fixtures.Pool) {
	first, second = fixtures.NodePool().Weight(90), fixtures.NodePool().Weight(10)
	group := fixtures.Key("group")
	return first.Label(group, first.GetName()), second.Label(group, first.GetName())
}

// among returns a Deployment of two pods that run on nodes of either of two rivals,
// of which this is the first, each on one of its own.
func among(first *fixtures.Pool) *fixtures.Workload {
	return fixtures.Deployment(2).Select(fixtures.Key("group"), first.GetName()).OnePodPerNode()
}

// endsWith checks what has become of a workload's pods: without them it would mean
// nothing.
func endsWith(app *fixtures.Workload, claim check.Claim) check.Check {
	return check.Finally(check.When(check.AtLeast(1, check.PodsOf(app)), claim))
}

// decided says whether a NodeClaim requires one value of a label and no other.
func decided(key string) check.Predicate {
	return func(claim *unstructured.Unstructured) bool { return len(karpenter.NodeClaimRequired(claim, key)) == 1 }
}

// requesting says whether a NodeClaim is for pods that need so many CPUs or more.
func requesting(cpus string) check.Predicate {
	return func(claim *unstructured.Unstructured) bool {
		requested := karpenter.NodeClaimRequests(claim, corev1.ResourceCPU)
		return requested.Cmp(resource.MustParse(cpus)) >= 0
	}
}
