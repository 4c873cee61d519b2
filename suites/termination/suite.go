// Package termination holds specs about nodes that are removed for any reason. Pods leave
// in order and as PodDisruptionBudgets allow. Then volumes are detached, and the instance
// is terminated. Only then are the node and its NodeClaim gone. A terminationGracePeriod
// bounds all of this.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Termination
// Controller"; designs/nodeclaim-termination-grace-period.md;
// pkg/controllers/node/termination.
package termination

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "termination ...".
var Suite = e2e.NewSuite("termination")
