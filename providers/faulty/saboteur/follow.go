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

// An act reacts to one state of an object from a watch. It returns true when it is done with
// the object. Conflict and NotFound errors are expected; the next state of the object follows.
type act[T client.Object] func(ctx context.Context, c client.Client, o T) (done bool, err error)

// follow calls the act for every state of all objects of a kind, in order, until the context
// ends. It bypasses the manager's cache, to be no later than core.
func follow[T client.Object](ctx context.Context, cached client.Client, kind client.ObjectList, answer act[T]) error {
	c, err := directly(cached)
	if err != nil {
		return err
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

// directly returns a client beside the manager's cache.
func directly(cached client.Client) (client.WithWatch, error) {
	direct, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	direct.QPS = -1 // no limit
	c, err := client.NewWithWatch(direct, client.Options{Scheme: cached.Scheme(), Mapper: cached.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// change reads an object, changes it, and patches the difference. It retries on conflicts.
func change[T client.Object](ctx context.Context, c client.Client, o T, how func(T)) error {
	return changeBy(ctx, c, o, how, func(before client.Patch) error { return c.Patch(ctx, o, before) })
}

// changeStatus is like change, for the status subresource.
func changeStatus[T client.Object](ctx context.Context, c client.Client, o T, how func(T)) error {
	return changeBy(ctx, c, o, how, func(before client.Patch) error { return c.Status().Patch(ctx, o, before) })
}

func changeBy[T client.Object](ctx context.Context, c client.Client, o T, how func(T),
	patch func(client.Patch) error,
) error {
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

// pause waits for the duration d, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func reached(claim *v1.NodeClaim, condition string) bool {
	return claim.StatusConditions().Get(condition).IsTrue()
}

// alive reports whether a NodeClaim is initialized and not being deleted.
func alive(claim *v1.NodeClaim) bool {
	return claim.DeletionTimestamp.IsZero() && reached(claim, v1.ConditionTypeInitialized)
}
