package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestKeepsSpecAndHash(t *testing.T) {
	hashed := func(o *historytest.Thing, hash, version string) *historytest.Thing {
		return o.Annotate(karpenter.NodePoolHashAnnotation, hash).Annotate(karpenter.NodePoolHashVersionAnnotation, version)
	}
	pool := func(hash, label string) *historytest.Thing {
		return hashed(historytest.Pool("p"), hash, "v3").Set(label, "spec", "template", "metadata", "labels", "l").
			Set("Never", "spec", "disruption", "consolidateAfter")
	}
	claim := func(hash, version string) *historytest.Thing {
		return hashed(historytest.NodeClaim("c").Pool("p").Set("1", "spec", "cpu"), hash, version)
	}
	tell := func() *historytest.Story {
		return historytest.Begin().Add(pool("1", "a")).After(time.Minute).Add(claim("1", "v3"))
	}
	later := 2 * hashWithin
	drifted := func(hash string) *historytest.Thing {
		return claim(hash, "v3").Because(karpenter.Drifted, "NodePoolDrifted")
	}
	judgeEach(t, keepsSpecAndHash(), map[string]outcome{
		"nothing changes": {tell().After(later).Change(claim("1", "v3").True(karpenter.Launched)), check.Holds, ""},
		"the spec changes": {
			tell().Change(claim("1", "v3").Set("2", "spec", "cpu")), check.Broken,
			"the spec of NodeClaim c changed",
		},
		"the hash changes": {tell().Change(claim("2", "v3")), check.Broken, "hash of NodeClaim c changed from 1 to 2"},
		"with its version": {tell().Change(claim("2", "v4")), check.Holds, ""},
		"made without a hash": {
			historytest.Begin().Add(historytest.NodeClaim("c").Pool("p")), check.Broken,
			"without the hash of its pool",
		},
		"not of a pool": {historytest.Begin().Add(historytest.NodeClaim("c")), check.Vacuous, ""},
		"a hash of before": {historytest.Begin().Add(pool("1", "a")).Change(pool("2", "b")).Add(claim("1", "v3")).
			After(later).Change(pool("2", "b")), check.Holds, ""},
		"a hash that comes": {historytest.Begin().Add(pool("1", "a")).Change(pool("1", "b")).Add(claim("2", "v3")).
			After(time.Second).Change(pool("2", "b")).After(later).Change(pool("2", "b")), check.Holds, ""},
		"a hash given up": {tell().Change(pool("2", "b")).After(later).Add(claim("1", "v3").UID("2")).After(later).
			Change(pool("2", "b")), check.Broken, "had given up 20s before, for 2"},
		"a hash just given up": {tell().Change(pool("2", "b")).After(stale - time.Second).Add(claim("1", "v3").UID("2")).
			After(later).Change(pool("2", "b")), check.Holds, ""},
		"to consolidate": {tell().Change(pool("2", "b").Set("0s", "spec", "disruption", "consolidateAfter")).
			After(validation).Add(claim("1", "v3").UID("2")).After(later).Change(pool("2", "b")), check.Holds, ""},
		"a hash that is back": {
			tell().Change(pool("2", "b")).After(later).Add(claim("1", "v3").UID("2")).
				Change(pool("2", "a")).After(time.Second).Change(pool("1", "a")).After(later).Change(pool("1", "a")),
			check.Holds, "",
		},
		"a hash that never comes": {historytest.Begin().Add(pool("1", "a")).Add(claim("7", "v3")).After(later).
			Change(pool("1", "a")), check.Broken, "has the hash 7 (version v3), which its pool never had"},
		"a hash that comes from the next leader": {historytest.Begin().Add(pool("1", "a")).
			Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).Change(pool("1", "b")).
			After(karpenter.Lease).Change(pool("2", "b")), check.Holds, ""},
		"a hash that comes after an upgrade": {historytest.Begin().Add(pool("1", "a")).
			Add(historytest.Report(Harness, ReasonUpgrade, historytest.Pod("karpenter", "host"))).Change(pool("1", "b")).
			After(karpenter.Lease).Change(pool("2", "b")), check.Holds, ""},
		"a hash that the next leader forgets": {historytest.Begin().Add(pool("1", "a")).Add(claim("1", "v3")).
			Change(pool("1", "b")).Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).
			After(takesOver + later).Change(pool("2", "b")), check.Broken, "10s later its hash is 1 still"},
		"a hash that the next leader forgets, who was quick": {
			historytest.Begin().Add(pool("1", "a")).Add(claim("1", "v3")).
				Change(pool("1", "b")).Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).
				After(karpenter.Lease).Add(leads("karpenter-leader-election")).After(5*time.Second + later).Change(pool("2", "b")),
			check.Broken, "10s later its hash is 1 still",
		},
		"a hash that comes from a leader who was late": {
			historytest.Begin().Add(pool("1", "a")).
				Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).Change(pool("1", "b")).
				After(takesOver - time.Second).Add(leads("karpenter-leader-election")).After(time.Second).Change(pool("2", "b")),
			check.Holds, "",
		},
		"a hash that comes late though another lease was taken": {
			historytest.Begin().Add(pool("1", "a")).
				Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).Change(pool("1", "b")).
				After(time.Second).Add(leads("kube-scheduler")).After(takesOver - time.Second).Change(pool("2", "b")),
			check.Holds, "",
		},
		"of another version": {historytest.Begin().Add(pool("1", "a")).Add(claim("1", "v2")).After(later).
			Change(pool("1", "a")), check.Broken, "which its pool never had"},
		"a hash that nobody saw": {historytest.Begin().Add(pool("1", "a")).Start().Change(pool("1", "b")).
			Add(claim("2", "v3")).Change(pool("1", "c")).After(later).Change(pool("3", "c")), check.Holds, ""},
		"too early to tell":    {historytest.Begin().Add(pool("1", "a")).Add(claim("7", "v3")), check.Holds, ""},
		"drifts with its pool": {tell().Change(pool("2", "b")).After(later).Change(drifted("1")), check.Holds, ""},
		"drifts without":       {tell().After(later).Change(drifted("1")), check.Broken, "although both have the hash 1"},
		"no claims": {
			historytest.Begin().Add(pool("1", "a")), check.Vacuous,
			"no NodeClaim was made or changed",
		},
		"a gap": {tell().Gap(karpenter.NodeClaims, "410"), check.Unknown, "gap"},
		"changes in a gap": {
			tell().Gap(karpenter.NodeClaims, "410").Change(claim("1", "v3").Set("2", "spec", "cpu")),
			check.Broken, "the spec of NodeClaim c changed",
		},
		"a hash lost in a gap": {tell().Gap(karpenter.NodePools, "410").Delete(claim("1", "v3")).
			Add(claim("7", "v3").UID("2")).After(later).Change(pool("1", "a")), check.Unknown, "gap"},
	})
}

func TestPoolHashes(t *testing.T) {
	pool := func(hash, label string) *historytest.Thing {
		return historytest.Pool("p").Annotate(karpenter.NodePoolHashAnnotation, hash).
			Annotate(karpenter.NodePoolHashVersionAnnotation, "v3").
			Set(label, "spec", "template", "metadata", "labels", "l")
	}
	tell := func() *historytest.Story {
		return historytest.Begin().Add(pool("", "a")).Change(pool("1", "a")).After(time.Minute)
	}
	later, soon := 2*hashWithin, time.Second
	narrow := func(o *historytest.Thing) *historytest.Thing {
		return o.Set("m", "spec", "template", "spec", "requirements", "l")
	}
	judgeEach(t, keepsSpecAndHash(), map[string]outcome{
		"changes with the template": {tell().Change(pool("1", "b")).After(soon).Change(pool("2", "b")).After(later).
			Change(pool("2", "b")), check.Holds, ""},
		"and back": {tell().Change(pool("2", "b")).After(later).Change(pool("2", "a")).After(soon).
			Change(pool("1", "a")), check.Holds, ""},
		"changes by itself": {
			tell().Change(pool("2", "a")), check.Broken,
			"the hash of NodePool p changed from 1 to 2",
		},
		"changes with its weight": {
			tell().Change(pool("1", "a").Set("9", "spec", "weight")).Change(pool("2", "a")),
			check.Broken, "that is hashed did not",
		},
		"with its requirements": {
			tell().Change(narrow(pool("1", "a"))).Change(narrow(pool("2", "a"))), check.Broken,
			"that is hashed did not",
		},
		"with its version": {
			tell().Change(pool("2", "a").Annotate(karpenter.NodePoolHashVersionAnnotation, "v4")),
			check.Vacuous, "",
		},
		"is of before": {
			historytest.Begin().Add(pool("1", "b")).Start().After(soon).Change(pool("2", "b")),
			check.Holds, "",
		},
		"never changes": {
			tell().Change(pool("1", "b")).After(later).Change(pool("1", "b")), check.Broken,
			"has changed, and 10s later its hash is 1 still",
		},
		"never, till it goes": {
			tell().Change(pool("1", "b")).After(later).Delete(pool("1", "b")), check.Broken,
			"its hash is 1 still",
		},
		"only requirements do": {
			tell().Change(narrow(pool("1", "a"))).After(later).Change(narrow(pool("1", "a"))),
			check.Vacuous, "",
		},
		"needn't any more": {tell().Change(pool("1", "b")).After(soon).Change(pool("1", "a")).After(later).
			Change(pool("1", "a")), check.Vacuous, ""},
		"can't any more": {tell().Change(pool("1", "b")).After(soon).Change(pool("1", "b").Deleting()).
			After(later).Change(pool("1", "b").Deleting()), check.Vacuous, ""},
		"too early to tell": {tell().Change(pool("1", "b")).After(soon).Change(pool("1", "b")), check.Vacuous, ""},
		"there is none": {historytest.Begin().Add(pool("", "a")).Change(pool("", "b")).After(later).
			Change(pool("", "b")), check.Vacuous, ""},
		"comes late, after two": {tell().Change(pool("1", "b")).Change(pool("1", "a")).After(soon).
			Change(pool("2", "a")).After(soon).Change(pool("1", "a")), check.Holds, ""},
		"its change is lost in a gap": {tell().Gap(karpenter.NodePools, "410").Change(pool("2", "a")), check.Unknown, "gap"},
		"it may have come in a gap": {tell().Change(pool("1", "b")).Gap(karpenter.NodePools, "410").After(later).
			Change(pool("1", "b")), check.Unknown, "gap"},
	})
}
