package provisioning

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Labels of pools. Pods select pools by them, and spread over them.
const (
	team    = fixtures.Domain + "/team"
	size    = fixtures.Domain + "/size" // a number
	rack    = fixtures.Domain + "/rack"
	nowhere = fixtures.Domain + "/nowhere" // on no pool
)

// rivalPools returns two pools. Pods get a node of the first, which has more weight, unless their
// requests exclude it.
func rivalPools() (first, second *fixtures.Pool) {
	first, second = fixtures.NodePool().Weight(90), fixtures.NodePool().Weight(10)
	group := fixtures.Key("group")
	return first.Label(group, first.GetName()), second.Label(group, first.GetName())
}

// rivalDeployment returns a Deployment of two pods for two rivals, given the first. Each pod needs its
// own node.
func rivalDeployment(first *fixtures.Pool) *fixtures.Workload {
	return fixtures.Deployment(2).Select(fixtures.Key("group"), first.GetName()).OnePodPerNode()
}

// endsWith checks a claim at the end if there are pods. Without pods it is meaningless.
func endsWith(app *fixtures.Workload, claim check.Claim) check.Check {
	return check.Finally(check.When(check.AtLeast(1, check.PodsOf(app)), claim))
}

// requiresOneValue tells whether a NodeClaim requires exactly one value of a label.
func requiresOneValue(key string) check.Predicate {
	return func(claim *unstructured.Unstructured) bool { return len(karpenter.NodeClaimRequired(claim, key)) == 1 }
}

// requestsCPUs tells whether a NodeClaim requests at least so many CPUs.
func requestsCPUs(cpus string) check.Predicate {
	return func(claim *unstructured.Unstructured) bool {
		requested := karpenter.NodeClaimRequests(claim, corev1.ResourceCPU)
		return requested.Cmp(resource.MustParse(cpus)) >= 0
	}
}
