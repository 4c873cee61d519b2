package provisioning

import "github.com/plumbline-e2e/plumbline/fixtures"

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
