package budgets

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A deleted NodeClaim without its condition Drifted is outdated too. Otherwise specs would
// wait for it in vain.
func TestADeletedNodeClaimIsOutdated(t *testing.T) {
	g := NewWithT(t)
	pool := fixtures.NodePool()
	nodeClaim := func(name string) *historytest.Thing { return historytest.NodeClaim(name).Pool(pool.GetName()) }
	w := historytest.Begin().Add(
		nodeClaim("drifted").True(karpenter.Drifted),
		nodeClaim("drifted-and-deleted").Deleting(),
		nodeClaim("replacement").False(karpenter.Drifted),
	).History().End()
	g.Expect(outdatedNodeClaims(pool).Of(w)).To(HaveLen(2))
}
