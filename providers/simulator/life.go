package simulator

import (
	"context"
	"log/slog"
	"time"
)

// State is the state of an instance.
type State string

// The states, in order. An instance that ends early leaves some out.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
)

// reasons holds the reason of each state's Event, without the prefix Instance.
var reasons = map[State]string{
	Pending: "Pending", Running: "Running", ShuttingDown: "ShuttingDown",
	Terminated: "Terminated",
}

// Instance is an instance of a simulated cloud.
type Instance interface {
	// Node returns the node that joins the cluster. With an error, such as for user data that no
	// kubelet can start with, it never joins.
	Node() (Node, error)
	// Enter tells the cloud the instance's new state. The first state, Pending, is not reported.
	Enter(s State)
	// Ending returns a channel that is closed when the instance must end.
	Ending() <-chan struct{}
}

// Times holds the durations of an instance's phases.
type Times struct {
	Pending time.Duration // until it runs
	Boot    time.Duration // then, until its kubelet registers
	Ending  time.Duration // from the request to end until it is gone
	Notice  time.Duration // then, until its node is deleted
}

// Live runs the life of an instance and of its node. It returns at the end or when ctx ends.
func (c *Cluster) Live(ctx context.Context, i Instance, t Times) {
	node, failed := i.Node()
	if failed != nil {
		slog.Error("an instance can't join the cluster", "node", node.Name, "error", failed)
	}
	enter := func(s State) { i.Enter(s); c.publish(ctx, node, s) }
	c.publish(ctx, node, Pending)
	joined := false
	if waitOr(ctx, t.Pending, i.Ending()) {
		enter(Running)
		if failed == nil && waitOr(ctx, t.Boot, i.Ending()) {
			c.join(ctx, node)
			joined = true
		}
	}
	select {
	case <-i.Ending():
	case <-ctx.Done():
		return
	}
	enter(ShuttingDown)
	if !waitOr(ctx, t.Ending, nil) {
		return
	}
	enter(Terminated)
	if joined && waitOr(ctx, t.Notice, nil) {
		c.leave(ctx, node.Name)
	}
}

// waitOr waits. It returns false if ctx or the instance ends before that.
func waitOr(ctx context.Context, d time.Duration, ending <-chan struct{}) bool {
	select {
	case <-time.After(d):
		return true
	case <-ending:
		return false
	case <-ctx.Done():
		return false
	}
}
