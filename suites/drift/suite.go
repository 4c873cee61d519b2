// Package drift holds what is promised when nodes no longer match the NodePool
// that launched them: they are found, and replaced without a gap.
//
// Sources: designs/drift.md and https://karpenter.sh/docs/concepts/disruption/#drift.
// Budgets, which pace drift, have a suite of their own.
package drift

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "drift ...".
var Suite = e2e.NewSuite("drift")
