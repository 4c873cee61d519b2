// Package controls holds what is promised of karpenter.sh/do-not-disrupt, by
// which users keep Karpenter from disrupting a node by choice: on a pod, a
// daemon's among them, on a node, and on all nodes of a pool by its template;
// for ever or for a while; against drift and against consolidation. What is not
// such a word is none, as are the annotations that there were before it.
//
// Sources: https://karpenter.sh/docs/concepts/disruption, "Controls";
// designs/do-not-disrupt-grace-period.md; designs/v1-api.md.
package controls

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "disruption controls ...".
var Suite = e2e.NewSuite("disruption controls")
