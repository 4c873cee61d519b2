// Package taints holds what is promised of the taints on nodes: those of the
// user's template, those that somebody else removes when a node has started,
// and those by which Karpenter says that a node isn't registered yet or is
// about to go. Which taints keep which pods off, when each comes and goes, and that
// nobody's is lost or put back: all of it is judged at every moment.
//
// Sources: spec.template.spec.taints and startupTaints of the NodePool API,
// designs/no-schedule-taint.md.
package taints

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "taints ...".
var Suite = e2e.NewSuite("taints")
