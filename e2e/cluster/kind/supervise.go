package kind

import (
	"context"
	"os/exec"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/pods"
)

// supervise reports the first restart of a system container, or the node's end, until Close.
func (k *kind) supervise(ctx context.Context, onDeath func(cluster.Death)) {
	if onDeath == nil {
		return
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = stop
	report := cluster.First(life, onDeath)
	go func() {
		// It returns when the node's container ends or does not exist.
		_ = exec.CommandContext(life, k.engine.command, "wait", k.node.String()).Run() //nolint:gosec // a container of ours
		report(cluster.Death{Component: "node " + k.node.String(), LastLines: []string{"its container ended"}})
	}()
	here := fields.OneTermEqualSelector("spec.nodeName", k.node.String())
	for _, namespace := range []string{systemNamespace, kwokNamespace} {
		go pods.WatchRestarts(life, k.client, namespace, here, report)
	}
}
