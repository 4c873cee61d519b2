package saboteur

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// launchesUnseen returns a lie that launches once more what is registered and has, by name, an object that it has not
// seen come. It knows objects of that kind by the events of their creation alone. After the end of its watch it watches
// again, or never.
func launchesUnseen(kind client.ObjectList, name func(*v1.NodeClaim) string, again bool) lie.Lie {
	return lie.Lie{Sabotage: func(ctx context.Context, cached client.Client) error {
		c, err := directly(cached)
		if err != nil {
			return err
		}
		seen := &sync.Map{} // names
		go func() {
			for first := true; first || again && ctx.Err() == nil; first = false {
				if err := see(ctx, c, kind, seen); err != nil {
					log.FromContext(ctx).Error(err, "sabotage")
				}
			}
		}()
		launched := false
		return follow(ctx, cached, &v1.NodeClaimList{}, func(ctx context.Context, c client.Client, claim *v1.NodeClaim,
		) (bool, error) {
			if launched || !reached(claim, v1.ConditionTypeRegistered) {
				return launched, nil
			}
			pause(ctx, 300*time.Millisecond) // the event may come a little later
			if _, is := seen.Load(name(claim)); is || !claim.DeletionTimestamp.IsZero() {
				return true, nil
			}
			launched = true
			_, err := copyOf(ctx, c, claim)
			return true, err
		})
	}}
}

// see notes the names of objects that are there or come, until its watch ends.
func see(ctx context.Context, c client.WithWatch, kind client.ObjectList, seen *sync.Map) error {
	events, err := c.Watch(ctx, kind)
	if err != nil {
		return fmt.Errorf("watching %T: %w", kind, err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if o, is := event.Object.(client.Object); is && event.Type == watch.Added {
			seen.Store(o.GetName(), true)
		}
	}
	return nil
}

func nodeName(claim *v1.NodeClaim) string { return claim.Status.NodeName }

func ownName(claim *v1.NodeClaim) string { return claim.Name }

// launchesUncached launches once more what the manager's cache doesn't show five seconds after it was made.
func launchesUncached(ctx context.Context, cached client.Client) error {
	c, err := directly(cached)
	if err != nil {
		return err
	}
	return copiesOnce(ctx, c, func(claim *v1.NodeClaim) bool {
		err := cached.Get(ctx, client.ObjectKeyFromObject(claim), &v1.NodeClaim{})
		return time.Since(claim.CreationTimestamp.Time) >= 5*time.Second && apierrors.IsNotFound(err)
	})
}
