package invariant

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestStagesInOrder(t *testing.T) {
	bare := historytest.NodeClaim
	claim := func(name string) *historytest.Thing {
		return bare(name).Set("id", "status", "providerID").On("n")
	}
	judgeEach(t, stagesInOrder(), map[string]outcome{
		"one after the other": {historytest.Begin().
			Add(claim("c")).
			Change(claim("c").True(karpenter.Launched)).
			Change(claim("c").True(karpenter.Launched).True(karpenter.Registered).True(karpenter.Initialized)), check.Holds, ""},
		"registered before it is launched": {historytest.Begin().
			Add(claim("c").True(karpenter.Registered)), check.Broken, "is Registered, but not Launched"},
		"launched without an instance": {
			historytest.Begin().
				Add(bare("c").True(karpenter.Launched)), check.Broken,
			"NodeClaim c is Launched, and its status.providerID is empty",
		},
		"registered without a node": {
			historytest.Begin().
				Add(claim("c").On("").True(karpenter.Launched).True(karpenter.Registered)), check.Broken,
			"its status.nodeName is empty",
		},
		"back again": {historytest.Begin().
			Add(claim("c").True(karpenter.Launched)).
			Change(claim("c").False(karpenter.Launched)), check.Broken, "was Launched, and no longer is"},
		"the condition is removed": {historytest.Begin().
			Add(claim("c").True(karpenter.Launched)).
			Change(claim("c")), check.Broken, "was Launched"},
		"written again as it was, with other news": {historytest.Begin().
			Add(claim("c")).
			Change(claim("c").False(karpenter.Launched)).
			Change(claim("c").True(karpenter.Launched)).
			Change(claim("c").False(karpenter.Launched).True(karpenter.DisruptionReason)), check.Holds, ""},
		"written again as it was": {historytest.Begin().
			Add(claim("c")).
			Change(claim("c").False(karpenter.Launched)).
			Change(claim("c").True(karpenter.Launched)).
			Change(claim("c").False(karpenter.Launched)), check.Broken, "was Launched"},
		"never like this before": {historytest.Begin().
			Add(claim("c").True(karpenter.Launched)).
			Change(claim("c").False(karpenter.Launched).True(karpenter.DisruptionReason)), check.Broken, "was Launched"},
		"another claim of the same name": {historytest.Begin().
			Add(claim("c").True(karpenter.Launched)).
			Change(claim("c").UID("2")), check.Holds, ""},
		"a restart in place": {
			historytest.Begin().
				Add(claim("c").True(karpenter.Launched).True(karpenter.Registered).True(karpenter.Initialized)).
				Change(claim("c").True(karpenter.Launched).True(karpenter.Registered).False(karpenter.Initialized).
					True(karpenter.Rebooting)),
			check.Holds, "",
		},
		"nothing launched": {historytest.Begin().Add(claim("c")), check.Vacuous, "no NodeClaim got any further"},
		"a gap": {historytest.Begin().Add(claim("c")).Gap(karpenter.NodeClaims, "410").
			Change(claim("c").True(karpenter.Launched)), check.Unknown, "gap"},
	})

	imaged := func() *historytest.Thing { return claim("c").Set("image", "status", "imageID") }
	ofImages := stagesInOrder()
	ofImages.New = func(Params) check.Monitor { return stagesInOrder().New(Params{Images: true}) }
	judgeEach(t, ofImages, map[string]outcome{
		"launched from an image": {
			historytest.Begin().Add(imaged()).Change(imaged().True(karpenter.Launched)), check.Holds, "",
		},
		"launched from no image": {
			historytest.Begin().Add(claim("c")).Change(claim("c").True(karpenter.Launched)), check.Broken,
			"NodeClaim c is Launched, and its status.imageID is empty",
		},
	})
}
