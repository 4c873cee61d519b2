// Package expiration holds what is promised of expireAfter: a node that has
// reached its age goes, whatever else would keep it. Neither budgets nor
// annotations nor the lack of a replacement put that off. What its pods say counts
// while it is drained, until its terminationGracePeriod is over.
//
// Sources: designs/forceful-expiration.md and spec.template.spec.expireAfter
// of the NodePool API.
package expiration

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "expiration ...".
var Suite = e2e.NewSuite("expiration")
