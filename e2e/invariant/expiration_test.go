package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestExpiresInTime(t *testing.T) {
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Set("2026-01-02T15:04:05Z", "metadata", "creationTimestamp").
			Set("10m", "spec", "expireAfter")
	}
	kill := func() *historytest.Thing {
		return historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))
	}
	jump := func() *historytest.Thing {
		return historytest.Report(Harness, ReasonJump, historytest.Pod("any", "any")).
			Set("the spec lets the clock jump by 6m0s", "message")
	}
	other := func() *historytest.Thing { return historytest.NodeClaim("other") }
	tell := func() *historytest.Story { return historytest.Begin().Add(claim()).After(10 * time.Minute) }
	judgeEach(t, expiresInTime(), map[string]outcome{
		"expires in time": {tell().Change(claim().Deleting()).After(time.Hour).Delete(claim()), check.Holds, ""},
		"stays": {
			tell().After(expireWithin + time.Second).Add(other()), check.Broken, "and 31s later it is not being deleted",
		},
		"expires late": {
			tell().After(time.Minute).Change(claim().Deleting()), check.Broken, "expired at 15:14:05, and 1m0s later",
		},
		"ends early": {
			historytest.Begin().Add(claim()).Change(claim().Deleting()).After(time.Hour).Add(other()),
			check.Vacuous, "",
		},
		"goes":        {historytest.Begin().Add(claim()).Delete(claim()).After(time.Hour).Add(other()), check.Vacuous, ""},
		"has not yet": {tell().After(time.Second).Add(other()), check.Vacuous, "no NodeClaim had an expireAfter"},
		"never does": {
			historytest.Begin().Add(claim().Set("Never", "spec", "expireAfter")).After(time.Hour).Add(other()),
			check.Vacuous, "",
		},
		"was there": {
			tell().After(time.Hour).Add(other()).Start().After(time.Second).Change(claim().Deleting()), check.Holds, "",
		},
		"nobody leads": {tell().Add(kill()).After(karpenter.TakenOver).Change(claim().Deleting()), check.Holds, ""},
		"the next leader forgets": {
			tell().Add(kill()).After(takesOver + time.Minute).Add(other()), check.Broken, "is not being deleted",
		},
		"the clock jumps when the next one leads": {
			tell().Add(kill(), jump(), leads("karpenter-leader-election")).After(6 * time.Minute).Add(other()).
				Change(claim().Deleting()), check.Holds, "",
		},
		"the clock jumps": {
			tell().Add(jump()).After(6 * time.Minute).Add(other()).Change(claim().Deleting()), check.Holds, "",
		},
		"stays after a jump": {
			tell().Add(jump()).After(6*time.Minute + expireWithin + time.Second).Add(other()), check.Broken, "6m31s later",
		},
		"a gap": {tell().Gap(karpenter.NodeClaims, "410").After(time.Hour).Add(other()), check.Unknown, "gap"},
	})
}
