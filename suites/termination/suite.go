// Package termination holds what is promised of a node that goes, whoever has
// sent it away: its pods leave in turn and as their budgets allow, its volumes
// are detached, its instance is ended, and only then are the node and its
// NodeClaim gone. A terminationGracePeriod bounds all of this.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Termination
// Controller"; designs/nodeclaim-termination-grace-period.md;
// pkg/controllers/node/termination.
package termination

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "termination ...".
var Suite = e2e.NewSuite("termination")
