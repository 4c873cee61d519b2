package api

import "github.com/plumbline-e2e/plumbline/e2e"

// unreadable is a failure of releases that check how a duration is written, and not how long it is.
var unreadable = []e2e.Known{{
	Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the patterns are the same in v1.0.8
	Issue: "https://github.com/plumbline-e2e/plumbline/blob/main/suites/findings.md" +
		"#karpenter-durations-that-stop-everything",
	Reason: "a duration of 292 years or more is accepted, and then the controller can't read any NodePool or NodeClaim",
	Breaks: []string{"it should have been refused"},
}}

// The API server accepts no duration that is too long for the controller to read. Some write many
// nines where they mean Never. One object that can't be read hides all others of its kind: not only
// its own nodes are concerned, but all that Karpenter does.
//
// Source: https://pkg.go.dev/time#Duration, "limits the largest representable duration to approximately
// 290 years"; https://github.com/kubernetes-sigs/karpenter/pull/2055 is about another such value.
var _ = e2e.Table(Suite, map[string]rule{
	"expire-after": {
		name:     "refuses an expireAfter that is too long for any controller",
		known:    unreadable,
		of:       bothFields("expireAfter"),
		refused:  []string{"2562048h", "9999999h"},
		accepted: []string{"2562047h"},
	},
	"termination-grace-period": {
		name:     "refuses a terminationGracePeriod that is too long for any controller",
		known:    unreadable,
		of:       bothFields("terminationGracePeriod"),
		refused:  []string{"2562048h", "9999999h"},
		accepted: []string{"2562047h"},
	},
	"consolidate-after": {
		name:     "refuses a consolidateAfter that is too long for any controller",
		known:    unreadable,
		of:       pool("disruption.consolidateAfter"),
		refused:  []string{"2562048h", "9999999h"},
		accepted: []string{"2562047h"},
	},
	"budget": {
		name:     "refuses budgets for a time that is too long for any controller",
		known:    unreadable,
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", schedule: "@daily", duration: %s}]`,
		refused:  []string{"2562048h", "9999999h"},
		accepted: []string{"2562047h"},
	},
}, rule.spec)
