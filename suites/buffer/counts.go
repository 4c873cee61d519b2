package buffer

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// gate is the feature gate that lets Karpenter look after buffers.
const gate = "CapacityBuffer"

// filled is how long a buffer may take that has lost room: Karpenter looks at
// each of them every 30 s.
const filled = time.Minute

// settled is how long a pool is given for a node too many: longer than a batch of
// pods stays open. Disruption takes longer, and looks every ten seconds.
const (
	settled   = 5 * time.Second
	disrupted = 20 * time.Second
)

func needs() []providers.Capability {
	return []providers.Capability{providers.NodePools, providers.CapacityBuffer}
}

// known is a failure of buffers for pods that exclude each other, which pods have to where a
// spec counts nodes.
func known() []e2e.Known {
	return []e2e.Known{{
		Releases: ">=1.14.0 <1.14.1",
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3166",
		Reason:   "a buffer's pods have no labels, so that those that exclude each other are given one node",
		Breaks:   []string{`^waited for \d NodeClaims?`},
	}}
}

func since() e2e.Since { return e2e.Since{Karpenter: "1.14"} }

// buffers counts the buffer itself, if it is there.
func buffers(buffer *fixtures.Buffer) check.Count {
	return check.Where("CapacityBuffers called "+buffer.GetName(), karpenter.CapacityBuffers, func(o *unstructured.Unstructured) bool {
		return o.GetName() == buffer.GetName()
	})
}
