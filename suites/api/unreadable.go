package api

import "github.com/plumbline-e2e/plumbline/e2e"

// unreadable is a failure of releases that check how a value is written, and not whether it can be read.
var unreadable = []e2e.Known{{
	Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the patterns are the same in v1.0.8
	Issue:    e2e.Finding("karpenter-values-that-stop-everything"),
	Reason: "durations of 293 years or more, and exponents with a point, are accepted, and then the controller can't " +
		"read any object of the kind",
	Breaks: []string{"it should have been refused"},
}}

// The API server accepts nothing that the controller can't read. Some write many nines where they mean
// Never, and a duration may be too long. One object that can't be read hides all others of its kind: not
// only its own nodes are concerned, but all that Karpenter does.
//
// Source: https://pkg.go.dev/time#Duration, "limits the largest representable duration to approximately
// 290 years"; https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity, whose
// exponents are whole; https://github.com/kubernetes-sigs/karpenter/pull/2055 is about another such value.
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
	"limits": {
		name:     "refuses limits whose exponents have a point",
		known:    unreadable,
		of:       pool("limits"),
		as:       "{cpu: %s}",
		refused:  []string{"'1e1.5'"},
		because:  "spec.limits.cpu",
		accepted: []string{"1e1"},
	},
	"requests": {
		name:     "refuses requests of a NodeClaim whose exponents have a point",
		known:    unreadable,
		of:       nodeClaim("resources.requests"),
		as:       "{memory: %s}",
		refused:  []string{"'1e1.5'"},
		because:  "spec.resources.requests.memory",
		accepted: []string{"1e9"},
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
