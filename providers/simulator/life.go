package simulator

import (
	"context"
	"log/slog"
	"time"
)

// State is the state of an instance.
type State string

// The states, in order. An instance that ends early leaves some out, and only [Fleet.Prepare] begins with Prepared.
const (
	Prepared     State = "prepared"
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

// Times holds the durations of an instance's phases.
type Times struct {
	Pending time.Duration // until it runs
	Boot    time.Duration // then, until its kubelet registers
	Ending  time.Duration // from the request to end until it is gone
	Notice  time.Duration // then, until its node is deleted
}

// life is an instance's life.
type life struct {
	node    Node
	failed  error // why it can't join the cluster
	times   Times
	enter   func(State)     // tells the cloud of each state but Pending
	ending  <-chan struct{} // is closed when the instance must end
	renewed func() bool     // tells whether another instance has its name by now
}

// live runs the life of an instance and of its node. It returns at the end or when ctx ends.
func (c *Cluster) live(ctx context.Context, l life) {
	if l.failed != nil {
		slog.Error("an instance can't join the cluster", "node", l.node.Name, "error", l.failed)
	}
	enter := func(s State) { l.enter(s); c.publish(ctx, l.node, s) }
	c.publish(ctx, l.node, Pending)
	joined := false
	if waitOr(ctx, l.times.Pending, l.ending) {
		enter(Running)
		if l.failed == nil && waitOr(ctx, l.times.Boot, l.ending) {
			c.join(ctx, l.node)
			joined = true
		}
	}
	select {
	case <-l.ending:
	case <-ctx.Done():
		return
	}
	enter(ShuttingDown)
	if !waitOr(ctx, l.times.Ending, nil) {
		return
	}
	enter(Terminated)
	if !joined {
		return
	}
	c.persist(ctx, "silencing "+l.node.Name, func(ctx context.Context) error { return c.Silence(ctx, l.node.Name) })
	// The cloud controller manager asks the cloud for an instance with the node's provider ID.
	if waitOr(ctx, l.times.Notice, nil) && !l.renewed() {
		c.leave(ctx, l.node.Name)
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
