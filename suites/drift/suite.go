// Package drift holds the promises about nodes that no longer match the NodePool that
// launched them, or its NodeClass. Karpenter finds these nodes and replaces them without
// a gap. The specs say which changes count and which don't, what holds a node, and for
// how long. A failed replacement costs no node. Once all nodes match, drift stops.
//
// Sources: designs/drift.md and https://karpenter.sh/docs/concepts/disruption/#drift.
// Budgets, which pace drift, have a suite of their own.
package drift

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "drift ...".
var Suite = e2e.NewSuite("drift")
