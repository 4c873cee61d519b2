package e2e

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pass lets time pass, as Watch does, but for long: where time is bent, the clock
// is moved instead, by steps of cluster.Step, or of cluster.Leap where the spec says
// so. To Karpenter each is as if it had been stopped for so long.
func (e *Env) Pass(ctx context.Context, d time.Duration) *history.History {
	if e.session.Clock == nil {
		return e.Watch(ctx, d)
	}
	before := e.Now()
	e.jump(ctx, d)
	return e.Since(before)
}

// jump moves the clock.
func (e *Env) jump(ctx context.Context, d time.Duration) {
	if err := e.session.Jump(ctx, d); err != nil {
		e.fail(ctx, "letting %s pass: %w", d, err)
	}
}

// FastForward lets time pass that Karpenter counts from the last transition of an
// object's condition. Where time can't be bent the condition is dated back by so much
// instead, and the outcome says that the spec was fast-forwarded: what else happens in
// such a time, doesn't.
func (e *Env) FastForward(ctx context.Context, object fixtures.Object, condition string, d time.Duration) {
	if e.session.Clock != nil {
		e.jump(ctx, d)
		return
	}
	o := object.Unstructured()
	ref, err := e.refer(o)
	if err == nil {
		err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
			now, err := e.at(ref).Get(ctx, ref.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if err := dateBack(now, condition, d); err != nil {
				return err
			}
			_, err = e.at(ref).UpdateStatus(ctx, now, metav1.UpdateOptions{FieldManager: fieldManager})
			return err
		})
	}
	if err != nil {
		e.fail(ctx, "dating back %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	e.notes = append(e.notes, fmt.Sprintf("fast-forwarded: condition %s of %s %s was dated back by %s", condition, o.GetKind(), o.GetName(), d))
}

// dateBack moves the last transition of a condition into the past.
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
