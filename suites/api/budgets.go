package api

import "github.com/plumbline-e2e/plumbline/e2e"

// The API server checks disruption budgets when they are written. A mistake in a budget
// would show only during a disruption, when it is too late.
//
// Source: spec.disruption.budgets and consolidationPolicy of the NodePool API;
// designs/disruption-controls.md; Karpenter's regression suite, "should succeed
// when ConsolidationPolicy=WhenEmptyOrUnderutilized is used with consolidateAfter".
var _ = e2e.Table(Suite, map[string]rule{
	"schedule-and-duration": {
		name:     "refuses budgets with a schedule and no duration, or a duration and no schedule",
		of:       pool("disruption.budgets"),
		refused:  []string{`[{nodes: "1", schedule: "@daily"}]`, `[{nodes: "1"}, {nodes: "1", duration: 1h}]`},
		because:  "'schedule' must be set with 'duration'",
		accepted: []string{`[{nodes: "1", schedule: "@daily", duration: 1h}, {nodes: "1"}]`},
	},
	"schedule": {
		name:     "refuses budgets whose schedule is not in cron syntax",
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", duration: 1h, schedule: %s}]`,
		refused:  []string{"'@often'", "daily", "'* * * *'", "''"},
		because:  "budgets[0].schedule",
		accepted: []string{"'@hourly'", "0 9 * * 1-5", "'*/5 9-17 1,15 * mon'"},
	},
	"schedule-values": {
		name: "refuses budgets whose schedule has a minute, hour, day or month that there is not",
		known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the pattern is the same in v1.0.8
			Issue:    e2e.Finding("karpenter-schedules-that-cant-be-read"),
			Reason:   "any five words are accepted as a schedule, and a budget with an unreadable one blocks all disruption",
			Breaks:   []string{"it should have been refused"},
		}},
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", duration: 1h, schedule: %s}]`,
		refused:  []string{"61 9 * * *", "0 24 * * *", "0 0 32 * *", "0 0 * 13 *", "0 9 * * monday", "at nine on each day"},
		because:  "budgets[0].schedule",
		accepted: []string{"59 23 31 12 *", "0 9 * * mon"},
	},
	"duration": {
		name:     "refuses budgets whose duration has seconds or days",
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", schedule: "@daily", duration: %s}]`,
		refused:  []string{"30s", "1d", "1h30m10s", "30m1h", "-1h", "Never", "''"},
		because:  "budgets[0].duration",
		accepted: []string{"1h30m", "10m", "8h", "1h0m0s"},
	},
	"reasons": {
		name:     "refuses budgets for reasons that it doesn't know",
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", reasons: %s}]`,
		refused:  []string{"[Expired]", "[Drifted, Whatever]", "[empty]", "['']"},
		because:  "budgets[0].reasons",
		accepted: []string{"[Drifted]", "[Empty, Underutilized]", "[Drifted, Empty, Underutilized]"},
	},
	"reasons-twice": {
		name:     "refuses budgets that name a reason twice",
		since:    "1.13",
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", reasons: %s}]`,
		refused:  []string{"[Drifted, Drifted]"},
		because:  "uplicate",
		accepted: []string{"[Drifted, Empty]"},
	},
	"unhealthy": {
		name:     "accepts budgets for unhealthy nodes",
		since:    "1.15",
		of:       pool("disruption.budgets"),
		as:       `[{nodes: "1", reasons: %s}]`,
		refused:  []string{"[Healthy]"},
		because:  "budgets[0].reasons",
		accepted: []string{"[Unhealthy]"},
	},
	"nodes": {
		name:     "refuses budgets that are neither a count nor a share of up to 100 percent",
		of:       pool("disruption.budgets"),
		as:       "[{nodes: %s}]",
		refused:  []string{"'-1'", "101%", "200%", "-5%", "12.5%", "'1.5'", "ten", "'%'", "''"},
		because:  "budgets[0].nodes",
		accepted: []string{"'0'", "'1000'", "0%", "50%", "100%"},
	},
	"too-many": {
		name:     "refuses more than 50 budgets",
		of:       pool("disruption.budgets"),
		refused:  []string{repeatEntry(51, `{nodes: "%d"}`)},
		accepted: []string{repeatEntry(50, `{nodes: "%d"}`)},
	},
	"consolidation-policy": {
		name:     "refuses consolidation policies that it doesn't know",
		of:       pool("disruption.consolidationPolicy"),
		refused:  []string{"WhenUnderutilized", "Never", "''"},
		accepted: []string{"WhenEmpty", "WhenEmptyOrUnderutilized"},
	},
	"balanced": {
		name:     "accepts the consolidation policy Balanced",
		since:    "1.14",
		of:       pool("disruption.consolidationPolicy"),
		refused:  []string{"Unbalanced"},
		accepted: []string{"Balanced"},
	},
}, rule.spec)
