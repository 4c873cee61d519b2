package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// faultLies returns the lies that show only if a request fails, or the controller dies in the middle of its work.
func faultLies() map[string]lie.Lie {
	// Creation timestamps have no fractions. What is made in the second of the start was made before: there is no leader.
	started := time.Now()
	older := func(o client.Object) bool { return o.GetCreationTimestamp().Time.Before(started) }
	return map[string]lie.Lie{
		"creates-again-after-lost-answers":  createsTwice(isUnanswered),
		"gives-up-after-errors":             givesUp(),
		"takes-conflicts-for-success":       swallowsConflicts(),
		"panics-at-errors":                  panicsAtErrors(),
		"creates-again-what-takes-long":     createsTwice(isSlow),
		"creates-twice-for-older-pods":      createsTwice(isForOlderPods),
		"launches-again-after-lost-records": launchesUnrecorded(),
		"keeps-launches-in-memory": reads(func(claim *v1.NodeClaim) {
			if older(claim) && claim.Status.ProviderID == "" {
				controllerutil.AddFinalizer(claim, v1.TerminationFinalizer) // or else it is patched, and read anew
				claim.StatusConditions().SetTrue(v1.ConditionTypeLaunched)
			}
		}, lifecycle),
		"forgets-pods-at-restarts": reads(func(pod *corev1.Pod) {
			if older(pod) && pod.Spec.NodeName == "" {
				pod.Spec.NodeName = "elsewhere"
			}
		}, provisioning),
	}
}

// creation is how a NodeClaim was created.
type creation struct {
	took time.Duration
	err  error
}

// createsTwice returns a lie: a NodeClaim is created once more if its creation leaves a doubt.
func createsTwice(doubt func(context.Context, client.Client, creation) bool) lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok {
				return c.Create(ctx, o, opts...)
			}
			again, began := claim.DeepCopy(), time.Now()
			err := c.Create(ctx, o, opts...)
			if doubt(ctx, c, creation{time.Since(began), err}) {
				err = errors.Join(err, c.Create(ctx, again, opts...))
			}
			return err
		},
	})
}

// isUnanswered reports whether nothing was answered.
func isUnanswered(_ context.Context, _ client.Client, n creation) bool {
	return n.err != nil && apierrors.ReasonForError(n.err) == ""
}

// isSlow reports whether a creation took two seconds.
func isSlow(_ context.Context, _ client.Client, n creation) bool {
	return n.err == nil && n.took >= 2*time.Second
}

// isForOlderPods reports whether a pod waits that was made more than four seconds ago. Karpenter
// takes two for one that it hears of at once.
func isForOlderPods(ctx context.Context, c client.Client, n creation) bool {
	pods := &corev1.PodList{}
	return n.err == nil && c.List(ctx, pods) == nil && slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		return pod.Spec.NodeName == "" && time.Since(pod.CreationTimestamp.Time) > 4*time.Second
	})
}

// givesUp returns a lie: after one error, no NodeClaim is created any more.
func givesUp() lie.Lie {
	var failed atomic.Bool
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, ok := o.(*v1.NodeClaim); !ok {
				return c.Create(ctx, o, opts...)
			}
			if failed.Load() {
				return errors.New("it has failed before")
			}
			err := c.Create(ctx, o, opts...)
			failed.CompareAndSwap(false, err != nil)
			return err
		},
	})
}

// swallowsConflicts returns a lie: what a conflict kept from being written counts as written.
func swallowsConflicts() lie.Lie {
	var refused atomic.Bool
	return deceives(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			_, ok := o.(*v1.NodeClaim)
			if ok && refused.Load() {
				return nil
			}
			err := c.SubResource(sub).Patch(ctx, o, patch, opts...)
			if ok && apierrors.IsConflict(err) {
				refused.Store(true)
				return nil
			}
			return err
		},
	})
}

// launchesUnrecorded returns a lie: a launch is repeated if its record was not answered.
func launchesUnrecorded() lie.Lie {
	return deceives(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			err := c.SubResource(sub).Patch(ctx, o, patch, opts...)
			if claim, ok := o.(*v1.NodeClaim); ok && err != nil && apierrors.ReasonForError(err) == "" {
				again := &v1.NodeClaim{
					ObjectMeta: metav1.ObjectMeta{
						GenerateName: claim.Name + "-", Labels: claim.Labels, Annotations: claim.Annotations,
						OwnerReferences: claim.OwnerReferences,
					},
					Spec: claim.Spec,
				}
				err = errors.Join(err, c.Create(ctx, again))
			}
			return err
		},
	})
}

// panicsAtErrors returns a lie: a NodeClaim that can't be written is a panic.
func panicsAtErrors() lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			err := c.Create(ctx, o, opts...)
			if _, ok := o.(*v1.NodeClaim); ok && err != nil {
				panic(fmt.Sprintf("creating a NodeClaim: %v", err))
			}
			return err
		},
	})
}
