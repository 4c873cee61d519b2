// Package migration holds the ways in which Karpenter's documents move a fleet
// from one NodePool or NodeClass to another: tainting the old pool so that its
// nodes drift away, deleting it with its nodes, deleting its nodes one at a time,
// and referring to a new NodeClass. Whichever is taken, all pods end up in the new
// place, and no node goes that wasn't asked for.
//
// Sources: designs/v1beta1-api.md of Karpenter v0.32, "Migration Path";
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
package migration

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "migration ...".
var Suite = e2e.NewSuite("migration")
