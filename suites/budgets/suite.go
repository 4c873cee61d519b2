// Package budgets holds the promises about disruption budgets: how many nodes of a pool
// may be disrupted at a time, when, and for which reasons.
//
// Sources: designs/disruption-controls.md, designs/disruption-controls-by-reason.md
// and spec.disruption.budgets of the NodePool API.
package budgets

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "disruption budgets ...".
var Suite = e2e.NewSuite("disruption budgets")
