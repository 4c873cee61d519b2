package cloud

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// forgetsInstances reports an instance as gone but keeps it running: when its Node and
// NodeClaim are gone, its kubelet creates the Node again.
func forgetsInstances() func(context.Context, cloud, *karpenterv1.NodeClaim) error {
	var instances firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) error {
		node := &corev1.Node{}
		err := honest.client.Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, node)
		if err == nil && instances.of(claim.Status.ProviderID) {
			go func() {
				if err := rejoin(ctx, honest.client, node, claim.Name); err != nil {
					log.FromContext(ctx).Error(err, "an instance could not join again")
				}
			}()
		}
		return honest.Delete(ctx, claim)
	}
}

// rejoin waits until a Node and its NodeClaim are gone, and creates the Node again. While the
// NodeClaim exists, Karpenter would register the Node for it and delete both.
func rejoin(ctx context.Context, c client.Client, node *corev1.Node, claim string) error {
	for _, going := range []struct {
		name string
		kind client.Object
	}{{node.Name, &corev1.Node{}}, {claim, &karpenterv1.NodeClaim{}}} {
		err := wait.PollUntilContextTimeout(ctx, tendEvery, time.Minute, true, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKey{Name: going.name}, going.kind)
			return apierrors.IsNotFound(err), ignore(apierrors.IsNotFound, err)
		})
		if err != nil {
			return fmt.Errorf("waiting until %s is gone: %w", going.name, err)
		}
	}
	return c.Create(ctx, rejoined(node))
}

// neverEndsInstances always reports that the instance is still terminating.
func neverEndsInstances(context.Context, cloud, *karpenterv1.NodeClaim) error { return nil }

func failsToEnd(context.Context, cloud, *karpenterv1.NodeClaim) error {
	return errors.New("the cloud answers: not authorized to end instances")
}

// failsOnEnded fails to delete an instance that has ended by itself: the cloud answers that there is
// none, and that is taken for any other error.
func failsOnEnded() func(context.Context, cloud, *karpenterv1.NodeClaim) error {
	var ended firsts // by Delete, so that the cloud still knows them
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) error {
		name := strings.TrimPrefix(claim.Status.ProviderID, "kwok://")
		err := honest.client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Node{})
		if first := ended.of(claim.Status.ProviderID); first && apierrors.IsNotFound(err) {
			ended.seen.Delete(claim.Status.ProviderID)
			return errors.New("the cloud answers: there is no such instance")
		}
		return honest.Delete(ctx, claim)
	}
}

// endsAnother ends an instance and another one, once for each NodeClaim, as a provider does that lowers the
// size of a group of machines again each time that it is asked.
func endsAnother() func(context.Context, cloud, *karpenterv1.NodeClaim) error {
	var claims firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) error {
		if !claims.of(string(claim.UID)) {
			return honest.Delete(ctx, claim)
		}
		nodes := &corev1.NodeList{}
		if err := honest.client.List(ctx, nodes, client.HasLabels{karpenterv1.NodeRegisteredLabelKey}); err != nil {
			return fmt.Errorf("listing nodes: %w", err)
		}
		for i := range nodes.Items {
			if other := &nodes.Items[i]; other.Spec.ProviderID != claim.Status.ProviderID {
				return errors.Join(end(ctx, honest.client, other), honest.Delete(ctx, claim))
			}
		}
		return honest.Delete(ctx, claim)
	}
}

// needsReadyClass finds an instance only while all NodeClasses are ready, as a provider does that asks what types
// they could launch before it says that the instance is there.
func needsReadyClass(ctx context.Context, honest cloud, id string) (*karpenterv1.NodeClaim, error) {
	classes := &kwokv1alpha1.KWOKNodeClassList{}
	if err := honest.client.List(ctx, classes); err != nil {
		return nil, fmt.Errorf("listing NodeClasses: %w", err)
	}
	for i := range classes.Items {
		if classes.Items[i].StatusConditions().Root().IsFalse() {
			return nil, errors.New("the NodeClass selects no subnets")
		}
	}
	return honest.Get(ctx, id)
}

// end ends the instance of a node at once: the node is the instance.
func end(ctx context.Context, c client.Client, node *corev1.Node) error {
	before := client.MergeFrom(node.DeepCopy())
	node.Finalizers = nil
	if err := c.Patch(ctx, node, before); err != nil {
		return err
	}
	return c.Delete(ctx, node)
}
