// Package nodeclaim holds what is promised of NodeClaims that belong to no
// NodePool, as controllers such as Kaito make them: each is an order for one
// node, and everything that Karpenter knows of it is on the NodeClaim itself.
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
