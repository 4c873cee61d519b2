// Package nodeclaim holds the specs of NodeClaims without a NodePool. Controllers such as
// Kaito create them. Each NodeClaim orders one node and contains everything that
// Karpenter knows about the order.
//
// Sources: the NodeClaim API (pkg/apis/v1/nodeclaim.go) and
// https://karpenter.sh/docs/concepts/nodeclaims.
package nodeclaim

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "nodeclaim ...".
var Suite = &e2e.Suite{
	Name:  "nodeclaim",
	Needs: []providers.Capability{providers.StandaloneNodeClaims},
}
