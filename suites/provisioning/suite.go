// Package provisioning holds what is promised to pods that no node can run:
// which nodes are launched for them, how many, from which NodePool, and which
// are not.
//
// Source: https://karpenter.sh/docs/concepts/scheduling and the NodePool API.
package provisioning

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "provisioning ...".
var Suite = e2e.NewSuite("provisioning")
