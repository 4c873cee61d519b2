package saboteur

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// An act answers one state of an object, as a watch shows it. It says when it
// is done with that object. Errors of somebody else having been faster are
// expected: the object's next state comes.
type act[T client.Object] func(ctx context.Context, c client.Client, o T) (done bool, err error)

// follow hands every state of all objects of a kind to the act, in order,
// until the context ends. It reads past the manager's cache, to be no later
// than core is.
func follow[T client.Object](ctx context.Context, cached client.Client, kind client.ObjectList, answer act[T]) error {
	direct, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	direct.QPS = -1 // no limit
	c, err := client.NewWithWatch(direct, client.Options{Scheme: cached.Scheme(), Mapper: cached.RESTMapper()})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	done := map[types.UID]bool{}
	for ctx.Err() == nil {
		events, err := c.Watch(ctx, kind)
		if err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
		for event := range events.ResultChan() {
			o, is := event.Object.(T)
			if !is || event.Type == watch.Deleted || done[o.GetUID()] {
				continue
			}
			finished, err := answer(ctx, c, o)
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "sabotage", "object", o.GetName())
			}
			done[o.GetUID()] = finished && err == nil
		}
	}
	return nil
}

// change reads an object anew, changes it, and patches the difference; once
// more if somebody else was faster.
func change[T client.Object](ctx context.Context, c client.Client, o T, how func(T)) error {
	return changeBy(ctx, c, o, how, func(before client.Patch) error { return c.Patch(ctx, o, before) })
}

// changeStatus is change for the subresource status.
func changeStatus[T client.Object](ctx context.Context, c client.Client, o T, how func(T)) error {
	return changeBy(ctx, c, o, how, func(before client.Patch) error { return c.Status().Patch(ctx, o, before) })
}

func changeBy[T client.Object](ctx context.Context, c client.Client, o T, how func(T), patch func(client.Patch) error) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		before, ok := o.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("a copy of %T is no object", o)
		}
		how(o)
		return patch(client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
}

// pause lets time pass, unless the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// reached says whether a condition of a NodeClaim is true.
func reached(claim *v1.NodeClaim, condition string) bool {
	return claim.StatusConditions().Get(condition).IsTrue()
}

// alive says whether a NodeClaim is initialized and nobody has asked for its deletion.
func alive(claim *v1.NodeClaim) bool {
	return claim.DeletionTimestamp.IsZero() && reached(claim, v1.ConditionTypeInitialized)
}
