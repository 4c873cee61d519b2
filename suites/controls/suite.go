// Package controls holds the promises about karpenter.sh/do-not-disrupt. Users set this
// annotation to keep Karpenter from disrupting a node by choice. They set it on pods
// (including daemons), on a node, or in a pool's template for all its nodes. It works
// forever or for a while, against drift and against consolidation. Invalid values and
// earlier annotations have no effect.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Controls";
// designs/do-not-disrupt-grace-period.md; designs/v1-api.md.
package controls

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "disruption controls ...".
var Suite = e2e.NewSuite("disruption controls")
