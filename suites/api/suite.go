// Package api tests Karpenter's API itself, before any node is launched. It covers what
// NodePools and NodeClaims may contain, refusals, defaults, status, and kubectl's output.
// A mistake that the API accepts causes trouble later. A changed default changes users'
// nodes.
//
// Source: the provider's CRDs, which decide where a document says otherwise.
package api

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "the API ...".
var Suite = e2e.NewSuite("the API")
