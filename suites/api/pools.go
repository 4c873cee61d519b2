package api

import "github.com/plumbline-e2e/plumbline/e2e"

// The API server checks a NodePool when it is written. It refuses a weight that no other
// pool can exceed, a limit that is not a quantity, and a misspelled field. A limit in a
// silently dropped field would not hold.
//
// Source: the NodePool API; spec.resources.requests of the NodeClaim API, which
// pools have no counterpart of.
var _ = e2e.Table(Suite, map[string]rule{
	"weight": {
		name:     "refuses weights below 1 and above 100",
		of:       pool("weight"),
		refused:  []string{"0", "-1", "101"},
		accepted: []string{"1", "100"},
	},
	"limits": {
		name:     "refuses limits that are not quantities",
		of:       pool("limits"),
		as:       "{cpu: %s}",
		refused:  []string{"4 cores", "10GB", "many", "''"},
		because:  "spec.limits.cpu",
		accepted: []string{"4", "'4'", "500m", "10Gi", "1e3"},
	},
	"requests": {
		name:     "refuses requests of a NodeClaim that are not quantities",
		of:       nodeClaim("resources.requests"),
		as:       "{memory: %s}",
		refused:  []string{"4 GB", "10GB", "much", "''"},
		because:  "spec.resources.requests.memory",
		accepted: []string{"4", "'4'", "500M", "10Gi", "1e3"},
	},
	"template-resources": {
		name:     "refuses a pool's template that requests resources",
		of:       pool("template.spec.resources"),
		refused:  []string{"{requests: {cpu: '1'}}"},
		because:  "spec.template.spec.resources: field not declared in schema",
		accepted: []string{"{requests: {cpu: '1'}}"},
		unlike:   nodeClaim("resources"),
	},
	"unknown-fields": {
		name:     "refuses unknown fields",
		of:       bothFields("taints"),
		as:       "[{key: a, effect: NoSchedule, %s}]",
		refused:  []string{"operator: Exists", "Value: x"},
		because:  "field not declared in schema",
		accepted: []string{"value: x"},
	},
}, rule.spec)
