// Package consolidation holds what is promised of consolidation: which nodes are
// taken away, or replaced by cheaper ones, because too little runs on them, and
// when.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Consolidation";
// designs/v1-api.md, designs/spot-consolidation.md; spec.disruption of the NodePool API.
package consolidation

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "consolidation ...".
var Suite = e2e.NewSuite("consolidation")
