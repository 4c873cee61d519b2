package buffer

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// filled is how long a buffer may take to refill.
const filled = 2 * karpenter.BufferPoll

// sharedNode is a failure of buffers for pods that exclude each other. Specs that count
// nodes need such pods.
var sharedNode = []e2e.Known{{
	Releases: ">=1.14.0 <1.14.1",
	Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3166",
	Reason:   "a buffer's pods have no labels, so that those that exclude each other are given one node",
	Breaks:   []string{`^waited for \d NodeClaims?`},
}}
