package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

// A controller that can't renew its lease ends itself, since another may lead by now. The next leader goes on with the
// nodes that start, and launches none of them twice.
//
// Source: https://pkg.go.dev/k8s.io/client-go/tools/leaderelection: a leader that doesn't renew its lease in time is
// one no longer; https://karpenter.sh/docs/concepts/nodeclaims: a NodeClaim is the record of a launch.
var _ = Suite.Add(e2e.Spec{
	Name:   "neither duplicates nor loses a node when its controller loses its lease while nodes start",
	Within: 4 * time.Minute,
	Run: whileNodesStart(func(ctx context.Context, env *e2e.Env) {
		env.Fault(ctx, faults.LoseLease(20*time.Second))
		env.AwaitFaults(ctx)
	}),
})
