// Package consolidation holds what is promised of consolidation: which nodes are
// taken away, or replaced by cheaper ones, because too little runs on them, and
// when.
//
// Where a node is to be too large for its pods, the pod that needs it runs there before the
// others come: of pods that come at once, those that a busy scheduler is late with get a node
// of their own. Specs in which Karpenter computes what could take a node's place have their
// pool consolidate from the start, and make a node such a one by deleting a pod: a pool that
// was just changed isn't ready for a moment, and if Karpenter happens to compute then, it
// looks again only when pods or nodes change, or after five minutes.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Consolidation";
// designs/v1-api.md, designs/spot-consolidation.md; spec.disruption of the NodePool API.
package consolidation

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "consolidation ...".
var Suite = e2e.NewSuite("consolidation")
