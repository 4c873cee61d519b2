// Package taints holds the specs of the taints on nodes. They cover the taints of the
// user's template and startup taints, which somebody removes after startup. They also
// cover Karpenter's own taints on unregistered and disrupted nodes. The specs check at
// every moment which pods each taint keeps off, and when it comes and goes. No owner's
// taint is lost or put back.
//
// Sources: spec.template.spec.taints and startupTaints of the NodePool API,
// designs/no-schedule-taint.md.
package taints

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "taints ...".
var Suite = e2e.NewSuite("taints")
