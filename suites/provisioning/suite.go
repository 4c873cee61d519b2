// Package provisioning holds specs about pods that no existing node can run. They say
// which nodes Karpenter launches for them, how large and how many, and from which
// NodePool. Nodes have room for all that the pods request and for daemons. Karpenter
// keeps to the limits, weights and minValues of pools. It reports why a pod can't be
// served, and launches nothing for pods that are held or gone.
//
// Source: https://karpenter.sh/docs/concepts/scheduling and the NodePool API.
package provisioning

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "provisioning ...".
var Suite = e2e.NewSuite("provisioning")
