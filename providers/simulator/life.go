package simulator

import (
	"context"
	"log/slog"
	"time"
)

// State is how far an instance has come in its life.
type State string

// The states, in order. An instance that ends early leaves some out.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
)

// reasons are how Events call the states, after Instance.
var reasons = map[State]string{Pending: "Pending", Running: "Running", ShuttingDown: "ShuttingDown", Terminated: "Terminated"}

// Instance is an instance of a simulated cloud.
type Instance interface {
	// Node is what it joins the cluster as. An error, such as of user data that no kubelet could
	// start with, means that it never does.
	Node() (Node, error)
	// Enter tells the cloud what state the instance has come to; it begins Pending.
	Enter(s State)
	// Ending is closed when the instance is to end.
	Ending() <-chan struct{}
}

// Times are how long an instance takes for what.
type Times struct {
	Pending time.Duration // until it runs
	Boot    time.Duration // then, until its kubelet registers
	Ending  time.Duration // from the end until it is gone
	Notice  time.Duration // then, until its node is deleted
}

// Live goes through the life of an instance, and of its node, and returns at its end, or
// when ctx ends.
func (c *Cluster) Live(ctx context.Context, i Instance, t Times) {
	node, failed := i.Node()
	if failed != nil {
		slog.Error("an instance can't join the cluster", "node", node.Name, "error", failed)
	}
	enter := func(s State) { i.Enter(s); c.tell(ctx, node, s) }
	c.tell(ctx, node, Pending)
	joined := false
	if passes(ctx, t.Pending, i.Ending()) {
		enter(Running)
		if failed == nil && passes(ctx, t.Boot, i.Ending()) {
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
	if !passes(ctx, t.Ending, nil) {
		return
	}
	enter(Terminated)
	if joined && passes(ctx, t.Notice, nil) {
		c.leave(ctx, node.Name)
	}
}

// passes waits, and tells whether neither ctx nor the instance ended meanwhile.
func passes(ctx context.Context, d time.Duration, ending <-chan struct{}) bool {
	select {
	case <-time.After(d):
		return true
	case <-ending:
		return false
	case <-ctx.Done():
		return false
	}
}
