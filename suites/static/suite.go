// Package static holds what is promised of static NodePools: those with
// spec.replicas, which keep a number of nodes whether pods need them or not. They
// reach it, grow and shrink by it, down to none, and keep to limits of nodes and, as
// they drift, to budgets. When one shrinks, empty nodes go first and protected ones
// last. A node that goes is replaced, all go with their pool, and pools beside it take
// what doesn't fit.
//
// Sources: designs/static-capacity.md and spec.replicas of the NodePool API,
// which came with Karpenter 1.8 and is behind the feature gate StaticCapacity.
package static

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "static capacity ...".
var Suite = &e2e.Suite{
	Name:  "static capacity",
	Needs: []providers.Capability{providers.NodePools, providers.StaticCapacity},
	Gate:  "StaticCapacity",
	Since: e2e.Since{Karpenter: "1.8"},
}
