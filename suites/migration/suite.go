// Package migration tests the ways in Karpenter's documents to move workloads to another
// NodePool or NodeClass. Users taint the old pool so that its nodes drift, delete it with
// its nodes, delete its nodes one at a time, or refer to a new NodeClass. Each way moves
// all pods and removes only the intended nodes.
//
// Sources: designs/v1beta1-api.md of Karpenter v0.32, "Migration Path";
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
package migration

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "migration ...".
var Suite = e2e.NewSuite("migration")
