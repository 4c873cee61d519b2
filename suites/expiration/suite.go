// Package expiration holds the promises about expireAfter. Karpenter deletes a node that
// has reached this age. Budgets, annotations or a missing replacement don't delay that.
// The drain respects the node's pods until the terminationGracePeriod ends.
//
// Sources: designs/forceful-expiration.md and spec.template.spec.expireAfter
// of the NodePool API.
package expiration

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "expiration ...".
var Suite = e2e.NewSuite("expiration")
