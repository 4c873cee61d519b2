package budgets

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim that has lost its condition Drifted and is being deleted has drifted all the
// same: specs that wait for all of a pool's would wait in vain.
func TestADeletedNodeClaimIsOutdated(t *testing.T) {
	g := NewWithT(t)
	pool := fixtures.NodePool()
	nodeClaim := func(name string) *historytest.Thing { return historytest.NodeClaim(name).Pool(pool.GetName()) }
	w := historytest.Begin().Add(
		nodeClaim("drifted").True(karpenter.Drifted),
		nodeClaim("drifted-and-deleted").Deleting(),
		nodeClaim("replacement").False(karpenter.Drifted),
	).History().End()
	g.Expect(outdated(pool).Of(w)).To(HaveLen(2))
}
