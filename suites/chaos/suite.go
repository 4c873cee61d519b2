// Package chaos holds what is promised when something fails beside the pods and
// nodes: the controller is killed in the middle of its work, the API server is
// away for half a minute, launches fail, kubelets flap, somebody taints every
// node that joins. Karpenter may be late then. It may not launch a node twice,
// lose one, or leave a pod without.
package chaos

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "chaos ...".
var Suite = e2e.NewSuite("chaos")
