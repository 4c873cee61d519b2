package api

import "github.com/plumbline-e2e/plumbline/e2e"

// The API server refuses a weight in a static NodePool, and limits of anything but nodes.
// A static NodePool keeps a number of nodes, so these fields would do nothing, but users
// would rely on them.
//
// Source: spec.replicas of the NodePool API, which came with Karpenter 1.8;
// designs/static-capacity.md.
var _ = e2e.Table(Suite, map[string]rule{
	"replicas": {
		name:     "refuses replicas below zero",
		since:    "1.8",
		of:       pool("replicas"),
		refused:  []string{"-1"},
		accepted: []string{"0", "1000"},
	},
	"limits": {
		name:     "refuses limits of a static pool, other than of nodes",
		since:    "1.8",
		of:       staticPool("limits"),
		refused:  []string{"{cpu: '4'}", "{nodes: '4', memory: 4Gi}"},
		because:  "only 'limits.nodes' is supported on static NodePools",
		accepted: []string{"{nodes: '4'}", "{}"},
	},
	"weight": {
		name:     "refuses the weight of a static pool",
		since:    "1.8",
		of:       staticPool("weight"),
		refused:  []string{"1", "100"},
		because:  "'weight' is not supported on static NodePools",
		accepted: []string{"1", "100"},
		unlike:   pool("weight"),
	},
}, rule.spec)
