// Package provisioning holds what is promised to pods that no node can run:
// which nodes are launched for them, how large and how many, from which NodePool,
// and which are not. Nodes are large enough for all that the pods ask for and for
// the daemons beside them, and no larger fleet comes than limits, weights and
// minValues of the pools allow. Pods that can't be served are told why; pods that
// are held, or gone, cost nothing.
//
// Source: https://karpenter.sh/docs/concepts/scheduling and the NodePool API.
package provisioning

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "provisioning ...".
var Suite = e2e.NewSuite("provisioning")
