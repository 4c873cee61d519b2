// Package drift holds what is promised when nodes no longer match the NodePool
// that launched them, or its NodeClass: they are found, and replaced without a gap.
// It says which changes count and which don't, what holds a node and for how long,
// and that a replacement which comes to nothing costs nobody a node. Once all nodes
// are as they should be, nothing goes on.
//
// Sources: designs/drift.md and https://karpenter.sh/docs/concepts/disruption/#drift.
// Budgets, which pace drift, have a suite of their own.
package drift

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "drift ...".
var Suite = e2e.NewSuite("drift")
