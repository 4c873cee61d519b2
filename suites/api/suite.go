// Package api holds what is promised of Karpenter's API itself, before any node
// is launched: what NodePools and NodeClaims may say and what is refused, what
// holds where they say nothing, what their status says, and how kubectl shows
// them. A mistake that the API takes becomes one at night; a default that is
// another one becomes another fleet.
//
// Source: the provider's CRDs, which decide where a document says otherwise.
package api

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "the API ...".
var Suite = e2e.NewSuite("the API")
