package upgrade

import (
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// takenOver is when a new controller leads, even if the old one kept its lease, and has looked for
// nodes to disrupt.
const takenOver = karpenter.Lease + karpenter.NominationOver + karpenter.DisruptionPolled

// Keys of fullPool's taint and labels.
const (
	dedicated = fixtures.Domain + "/dedicated"
	team      = fixtures.Domain + "/team"
)

// fullPool returns a pool that sets most of the fields that every release of the v1 API has.
func fullPool() *fixtures.Pool {
	return fixtures.NodePool().Label(team, "blue").Annotation(fixtures.Key("owner"), "me").
		Taint(dedicated, fixtures.NoSchedule).ExpireAfter("720h").TerminationGracePeriod("1h").
		Weight(10).Limit("cpu", "1000").Budget("2").ConsolidateAfter("Never").OnDemand()
}

// tolerant lets a workload run on nodes of fullPool.
func tolerant(app *fixtures.Workload) *fixtures.Workload { return app.Tolerate(dedicated) }

// hashedByAnother counts a pool's NodeClaims with the hash of another release.
func hashedByAnother(pool *fixtures.Pool) check.Count {
	return check.NodeClaims(pool).With("hashed by another release",
		check.Annotated(karpenter.NodePoolHashVersionAnnotation, fixtures.AnotherHashVersion))
}

// loneNodeClaim returns a NodeClaim whose node takes no pods. Karpenter's chart keeps the controller
// away from nodes of NodePools only, and the new controller must not run on a fake node.
func loneNodeClaim() *fixtures.LoneNodeClaim {
	return fixtures.NodeClaim().Taint(dedicated, fixtures.NoSchedule)
}
