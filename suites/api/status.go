package api

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter's conditions have the fields of Kubernetes' own conditions, and no others.
// Users can read them without knowing Karpenter. Their former severity only repeated the
// status.
//
// Source: status.conditions of the NodePool and NodeClaim API; Kubernetes' API
// conventions, metav1.Condition.
var _ = e2e.Table(Suite, map[string]rule{
	"severity": {
		name: "refuses conditions with a severity",
		of:   []field{{fixtures.RawNodePool, "status.conditions"}, {fixtures.RawNodeClaim, "status.conditions"}},
		as: "[{type: Ready, status: 'True', reason: Ready, message: '', " +
			"lastTransitionTime: '2024-01-01T01:01:01Z', %s}]",
		refused:  []string{"severity: Error", "severity: ''"},
		because:  "severity: field not declared in schema",
		accepted: []string{"observedGeneration: 1"},
	},
}, rule.spec)
