package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// How a player lets time pass where a clock can be moved, in the cluster's time.
const (
	// look is how often it looks whether the cluster is at rest.
	look = 2 * time.Second
	// rest is how long nothing must have changed before the clock is moved. Karpenter looks for nodes to disrupt every
	// ten seconds, and waits fifteen before it does. Where a pool's consolidateAfter is longer, that is waited for.
	rest = 45 * time.Second
	// stride is the longest move of the clock at a time. Karpenter looks again after each.
	stride = time.Hour
	// glance is how long it waits after a move before the next one, if nothing changes.
	glance = 30 * time.Second
	// hopeless is how long a pod has waited that no node is made for. Time is no longer kept for it.
	hopeless = 15 * time.Minute
)

// Player plays workloads on a cluster.
type Player struct {
	Apply  func(context.Context, *unstructured.Unstructured) error
	Delete func(context.Context, *unstructured.Unstructured) error
	// Jump moves the cluster's clock ahead, in one step. Nil: it can't be moved.
	Jump func(context.Context, time.Duration) error
	// Recording is of the cluster's nodes, pods and NodeClaims.
	Recording *history.Stream
	// Progress, if set, is told how far the workload is.
	Progress func(at time.Duration)

	began     time.Time
	quiet     time.Duration // see rest
	still     time.Duration // how long nothing must have changed now
	newest    uint64        // revision, as seen last
	changed   time.Time     // when the newest revision was another
	skipped   time.Duration // by moves of the clock
	moves     int
	lastShown time.Time
}

// Play takes the actions of a workload at their times, and returns at its end. Where the clock can be moved, it moves
// it ahead while the cluster is at rest, and never while a pod waits, a node is launched or drained, or something has
// just changed. To the processes of the cluster a move is a time in which all of them were stopped.
func (p *Player) Play(ctx context.Context, w *Workload) error {
	p.began, p.quiet = time.Now(), rest
	for _, a := range w.Actions {
		if after := consolidateAfter(a.Object); after > 0 {
			p.quiet = max(p.quiet, after+rest)
		}
		if err := p.await(ctx, p.began.Add(a.At)); err != nil {
			return err
		}
		if err := p.take(ctx, a); err != nil {
			return fmt.Errorf("at %s of the workload %s: %s %s: %w", a.At, w.Name, a.Object.GetKind(), a.Object.GetName(), err)
		}
	}
	return p.await(ctx, p.began.Add(w.Length))
}

// Skipped returns how much time was passed over by moves of the clock, and in how many.
func (p *Player) Skipped() (time.Duration, int) { return p.skipped, p.moves }

func (p *Player) take(ctx context.Context, a Action) error {
	if a.Delete {
		return p.Delete(ctx, a.Object)
	}
	return p.Apply(ctx, a.Object)
}

// consolidateAfter returns how long a NodePool leaves a node alone after pods came or went.
func consolidateAfter(o *unstructured.Unstructured) time.Duration {
	text, _, _ := unstructured.NestedString(o.Object, "spec", "disruption", "consolidateAfter")
	after, _ := time.ParseDuration(text) // Never, or no NodePool
	return after
}

// await lets time pass until a moment.
func (p *Player) await(ctx context.Context, until time.Time) error {
	p.still = p.quiet
	for {
		left := time.Until(until)
		p.show()
		if left <= 0 {
			return ctx.Err()
		}
		if p.Jump != nil && left > look && p.atRest() {
			by := min(left-look, stride)
			if err := p.Jump(ctx, by); err != nil {
				return err
			}
			p.skipped, p.moves = p.skipped+by, p.moves+1
			p.changed, p.still = time.Now(), glance
			continue
		}
		select {
		case <-time.After(min(left, look)):
		case <-p.Recording.Failed():
			return errors.New("the recording failed")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *Player) show() {
	if p.Progress != nil && time.Since(p.lastShown) > time.Minute {
		p.lastShown = time.Now()
		p.Progress(time.Since(p.began))
	}
}

// atRest reports whether the cluster has not changed for long enough, and nothing is in progress.
func (p *Player) atRest() bool {
	if newest := p.Recording.Newest(karpenter.Nodes, karpenter.NodeClaims, karpenter.Pods); newest != p.newest {
		p.newest, p.changed, p.still = newest, time.Now(), p.quiet
	}
	if time.Since(p.changed) < p.still {
		return false
	}
	busy := false
	p.Recording.Present(func(w *history.World) { busy = check.InProgress(w, hopeless) })
	return !busy
}
