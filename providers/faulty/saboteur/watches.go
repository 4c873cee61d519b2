package saboteur

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// launchesUnseen returns a lie that launches once more what is registered with a node that it has not seen come. It
// knows nodes by the events of their creation alone. After the end of its watch it watches again, or never.
func launchesUnseen(again bool) lie.Lie {
	return lie.Lie{Sabotage: func(ctx context.Context, cached client.Client) error {
		c, err := directly(cached)
		if err != nil {
			return err
		}
		seen := &sync.Map{} // nodes' names
		go func() {
			for first := true; first || again && ctx.Err() == nil; first = false {
				if err := seeNodes(ctx, c, seen); err != nil {
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
			pause(ctx, 300*time.Millisecond) // the node's event may come a little later
			if _, is := seen.Load(claim.Status.NodeName); is || !claim.DeletionTimestamp.IsZero() {
				return true, nil
			}
			launched = true
			_, err := copyOf(ctx, c, claim)
			return true, err
		})
	}}
}

// seeNodes notes the names of nodes that are there or come, until its watch ends.
func seeNodes(ctx context.Context, c client.WithWatch, seen *sync.Map) error {
	events, err := c.Watch(ctx, &corev1.NodeList{})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if node, is := event.Object.(*corev1.Node); is && event.Type == watch.Added {
			seen.Store(node.Name, true)
		}
	}
	return nil
}

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
