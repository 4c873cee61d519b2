package api

import (
	"fmt"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// The API server refuses labels in a NodePool by which Karpenter and Kubernetes identify
// nodes. Another NodePool's name, or one host name for all nodes, would break the
// scheduler's and Karpenter's calculations. Users may set all other labels.
//
// Source: spec.template.metadata.labels of the NodePool API; Karpenter's
// regression suite, "should error when a restricted label is used in labels" and
// "should allow a restricted label exception to be used in labels".
var _ = e2e.Table(Suite, map[string]rule{
	"own-domain": {
		name:     "refuses labels of Karpenter's own domain, but for the capacity type",
		of:       pool("template.metadata.labels"),
		refused:  []string{"{karpenter.sh/custom: x}", "{karpenter.sh/registered: 'true'}", "{sub.karpenter.sh/custom: x}"},
		because:  `label domain "karpenter.sh" is restricted`,
		accepted: []string{"{karpenter.sh/capacity-type: on-demand}", "{plumbline.test/custom: x}"},
	},
	"pool-name": {
		name:     "refuses the label that names the pool in the pool's own template",
		of:       pool("template.metadata.labels"),
		refused:  []string{"{karpenter.sh/nodepool: other}", "{karpenter.sh/nodepool: ''}"},
		because:  `label "karpenter.sh/nodepool" is restricted`,
		accepted: []string{"{plumbline.test/nodepool: other}"},
	},
	"host-name": {
		name:     "refuses the label of the host name",
		of:       pool("template.metadata.labels"),
		refused:  []string{"{kubernetes.io/hostname: here}"},
		because:  `label "kubernetes.io/hostname" is restricted`,
		accepted: []string{"{plumbline.test/hostname: here}"},
	},
	"values": {
		name:     "refuses label values that no node can have",
		of:       pool("template.metadata.labels"),
		refused:  []string{"{a: x y}", "{a: -x}", "{a: x/y}", "{a: " + strings.Repeat("x", 64) + "}"},
		accepted: []string{"{a: x-y}", "{a: ''}", "{a: " + strings.Repeat("x", 63) + "}"},
	},
	"too-many": {
		name:     "refuses more than 100 labels",
		of:       pool("template.metadata.labels"),
		refused:  []string{labels(101)},
		accepted: []string{labels(100)},
	},
	"node-restriction": {
		name:     "accepts labels that a kubelet may not give itself",
		of:       pool("template.metadata.labels"),
		refused:  []string{"{node-restriction.karpenter.sh/custom: x}"},
		accepted: []string{"{node-restriction.kubernetes.io/custom: x}", "{sub.node-restriction.kubernetes.io/custom: x}"},
	},
	"kubernetes-domains": {
		name:     "accepts labels of Kubernetes' own domains",
		since:    "1.9",
		of:       pool("template.metadata.labels"),
		refused:  []string{"{kubernetes.io/hostname: here}"},
		accepted: []string{"{kubernetes.io/custom: x}", "{k8s.io/custom: x}", "{topology.kubernetes.io/zone: here}"},
	},
}, rule.spec)

// labels returns n labels.
func labels(n int) string {
	list := strings.Trim(repeatEntry(n, "plumbline.test/l%d: x"), "[]")
	return fmt.Sprintf("{%s}", list)
}
