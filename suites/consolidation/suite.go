// Package consolidation holds the specs of consolidation: which nodes Karpenter removes,
// or replaces with cheaper nodes, because too little runs on them, and when.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Consolidation";
// designs/v1-api.md, designs/spot-consolidation.md; spec.disruption of the NodePool API.
package consolidation

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "consolidation ...".
var Suite = e2e.NewSuite("consolidation")
