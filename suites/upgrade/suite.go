// Package upgrade tests what an upgrade of Karpenter does to a fleet. Each spec begins with the
// old release, and with what users have in a cluster: pools, nodes, drift and drains in
// progress. Then it upgrades as users do: the new CRDs, then the new chart. The old
// controller ends and the new one takes over its lease. Some specs go back afterwards.
//
// The suite has runs of its own (`make upgrade FROM=... TO=...`). A spec is skipped where the old
// release lacks what it needs.
//
// Sources: https://karpenter.sh/docs/upgrading/upgrade-guide;
// designs/drift-hash-versioning.md.
package upgrade

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "upgrade: ...".
var Suite = &e2e.Suite{Name: "upgrade:", Upgrades: true}
