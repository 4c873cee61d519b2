package api

import "github.com/plumbline-e2e/plumbline/e2e"

// readsBeginning is a failure of releases that check only the beginning of a duration.
var readsBeginning = []e2e.Known{{
	Releases: ">=1.0.0 <1.5.0", // seen in v1.1.5
	Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2055",
	Reason:   "1hr is accepted as a duration, which the controller can't read",
	Breaks:   []string{"it should have been refused"},
}}

// Durations have hours, minutes and seconds, or are Never where no end is allowed. The
// API server refuses "1d": it looks like a duration, but not to the controller. Nodes
// would live forever, or not at all.
//
// Source: expireAfter, terminationGracePeriod and consolidateAfter of the NodePool
// and NodeClaim API; Karpenter's regression suite, "should error when
// consolidateAfter is negative".
var _ = e2e.Table(Suite, map[string]rule{
	"expire-after": {
		name:     "accepts durations and Never for expireAfter, and nothing else",
		known:    readsBeginning,
		of:       bothFields("expireAfter"),
		refused:  []string{"1hr", "1d", "'10'", "-1h", "1.5h", "1h 30m", "never", "Nevermore", "''"},
		accepted: []string{"Never", "720h", "1h30m", "30s", "0s"},
	},
	"consolidate-after": {
		name:     "accepts durations and Never for consolidateAfter, and nothing else",
		known:    readsBeginning,
		of:       pool("disruption.consolidateAfter"),
		refused:  []string{"1hr", "1d", "'10'", "-1h", "1.5h", "1h 30m", "never", "Nevermore", "''"},
		accepted: []string{"Never", "720h", "1h30m", "30s", "0s"},
	},
	"termination-grace-period": {
		name:     "accepts durations for terminationGracePeriod, and neither Never nor anything else",
		of:       bothFields("terminationGracePeriod"),
		refused:  []string{"Never", "1hr", "1d", "'10'", "-1h", "1.5h", "1h 30m", "''"},
		accepted: []string{"48h", "1h30m", "30s", "0s"},
	},
}, rule.spec)
