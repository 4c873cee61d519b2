// Package static holds the specs of static NodePools. They have spec.replicas, and keep
// this number of nodes whether pods need them or not. They grow and shrink with it, down
// to zero. They keep to limits of nodes and, during drift, to budgets. A pool that
// shrinks removes empty nodes first and protected nodes last. It replaces lost nodes. A
// deleted pool removes its nodes. Other pools take the pods that don't fit.
//
// Sources: designs/static-capacity.md and spec.replicas of the NodePool API,
// which came with Karpenter 1.8 and is behind the feature gate StaticCapacity.
package static

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "static capacity ...".
var Suite = &e2e.Suite{
	Name:  "static capacity",
	Needs: []providers.Capability{providers.NodePools, providers.StaticCapacity},
	Gate:  "StaticCapacity",
	Since: e2e.Since{Karpenter: karpenter.StaticCapacitySince},
}
