// Package chaos holds the promises for failures outside the pods and nodes. The
// controller is killed during its work, the API server is down for half a minute,
// launches fail, kubelets flap, or every new node is tainted. Karpenter may be late then.
// It must not launch a node twice, lose a node, or leave a pod without a node.
package chaos

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "chaos: ...": what the provider does while something else fails.
var Suite = e2e.NewSuite("chaos:")
