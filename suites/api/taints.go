package api

import "github.com/plumbline-e2e/plumbline/e2e"

// The API server checks taints and startup taints when they are written, in NodePools and
// in NodeClaims. An invalid taint would show only when the first node joins.
//
// Source: spec.taints and spec.startupTaints of the NodeClaim API, and of the
// template in the NodePool API.
var _ = e2e.Table(Suite, map[string]rule{
	"effects": {
		name:     "refuses taints with an unknown effect",
		of:       append(bothFields("taints"), bothFields("startupTaints")...),
		as:       "[{key: a, effect: %s}]",
		refused:  []string{"NoWay", "noSchedule", "''"},
		because:  "aints[0].effect",
		accepted: []string{"NoSchedule", "PreferNoSchedule", "NoExecute"},
	},
	"missing": {
		name:     "refuses taints without a key, and without an effect",
		of:       append(bothFields("taints"), bothFields("startupTaints")...),
		refused:  []string{"[{effect: NoSchedule}]", "[{key: a, value: x}]"},
		because:  "Required value",
		accepted: []string{"[{key: a, effect: NoSchedule}]"},
	},
	"keys-and-values": {
		name:     "refuses taints whose key or value no node can have",
		of:       append(bothFields("taints"), bothFields("startupTaints")...),
		as:       "[{effect: NoSchedule, %s}]",
		refused:  []string{"key: ''", "key: a b", "key: a/", "key: a, value: x y", "key: a, value: x/"},
		because:  "aints[0].",
		accepted: []string{"key: a", "key: domain.test/A_b, value: x", "key: a, value: domain.test/x"},
	},
}, rule.spec)
