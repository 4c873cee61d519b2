package env

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// jumpFrom is the longest time that Observe waits for where the clock can be moved.
const jumpFrom = 2 * cluster.Step

// Observe lets time pass and returns what was recorded meanwhile. Use it for promises that
// something does not happen. Where time is bent, it moves the clock for a long d, in steps of
// cluster.Step, or of cluster.Leap for a spec that Leaps. To Karpenter each step is a time in
// which it was stopped.
func (e *Env) Observe(ctx context.Context, d time.Duration) *history.History {
	before := e.Mark()
	if d > jumpFrom && e.place.Jump != nil {
		e.jump(ctx, d)
	} else {
		e.wait(ctx, d)
	}
	return e.Since(before)
}

func (e *Env) wait(ctx context.Context, d time.Duration) {
	window, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	_ = e.recorder.Await(window, func(*history.World) bool { return false }) // it ends with the window
	if ctx.Err() != nil {
		e.fail(ctx, "observing for %s: %w", d, context.Cause(ctx))
	}
}

// jump moves the clock ahead. What is judged by time must know that it jumps, not passes.
func (e *Env) jump(ctx context.Context, d time.Duration) {
	err := e.announce(ctx, invariant.ReasonJump, fmt.Sprintf("the spec lets the clock jump by %s", d))
	if err == nil {
		err = e.place.Jump(ctx, d)
	}
	if err != nil {
		e.fail(ctx, "letting %s pass: %w", d, err)
	}
}

// Mark returns a mark for this moment of the recording.
func (e *Env) Mark() history.Mark { return e.recorded().Mark() }

// Repeat takes a step n times, and lets d of cluster time pass after each. It tells the step how
// often it was taken before.
func (e *Env) Repeat(ctx context.Context, n int, d time.Duration, step func(before int)) {
	for before := range n {
		step(before)
		e.Observe(ctx, d)
	}
}

// Since returns what was recorded from a mark until now.
func (e *Env) Since(m history.Mark) *history.History { return e.recorded().Since(m) }

// World returns the state of the cluster as recorded up to now.
func (e *Env) World() *history.World { return e.recorded().End() }

// AgeCondition makes an object's condition older, where Karpenter counts from its last
// transition. Where time is bent, it lets d pass. Elsewhere it dates the condition back, and
// the outcome notes "fast-forwarded": nothing else happens in that time.
func (e *Env) AgeCondition(ctx context.Context, object fixtures.Object, condition string, d time.Duration) {
	if e.place.Jump != nil {
		e.jump(ctx, d)
		return
	}
	o := object.Unstructured()
	ref, err := e.refer(o)
	if err == nil {
		err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
			now, err := e.resourceInterface(ref).Get(ctx, ref.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if err := dateBack(now, condition, d); err != nil {
				return err
			}
			_, err = e.resourceInterface(ref).UpdateStatus(ctx, now, metav1.UpdateOptions{FieldManager: fieldManager})
			return err
		})
	}
	if err != nil {
		e.fail(ctx, "dating back %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	e.result.Notes = append(e.result.Notes,
		fmt.Sprintf("fast-forwarded: condition %s of %s %s was dated back by %s", condition, o.GetKind(), o.GetName(), d))
}

// dateBack moves a condition's last transition into the past.
func dateBack(o *unstructured.Unstructured, condition string, by time.Duration) error {
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, c := range all {
		fields, _ := c.(map[string]any)
		if fields["type"] != condition {
			continue
		}
		text, _ := fields["lastTransitionTime"].(string)
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return fmt.Errorf("condition %s: %w", condition, err)
		}
		fields["lastTransitionTime"] = at.Add(-by).UTC().Format(time.RFC3339)
		return unstructured.SetNestedSlice(o.Object, all, "status", "conditions")
	}
	return fmt.Errorf("it has no condition %s", condition)
}
