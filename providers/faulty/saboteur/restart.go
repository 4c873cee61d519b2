package saboteur

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// chaosLies returns the lies about failures other than of pods and nodes. Those about a
// restart do nothing before the first restart.
func chaosLies() map[string]lie.Lie {
	started := time.Now()
	return map[string]lie.Lie{
		"relaunches-after-a-restart":  claimLie(relaunches(started)),
		"launches-again-when-late":    {Sabotage: launchesAgain},
		"ends-drains-after-a-restart": nodeLie(endsDrains(started)),
		"replaces-unready-nodes":      nodeLie(replacesUnready),
		"counts-on-every-event":       launchesUnseen(&corev1.NodeList{}, nodeName, true),
		"ends-with-its-watch":         launchesUnseen(&corev1.NodeList{}, nodeName, false),
		"ends-with-its-other-watch":   launchesUnseen(&v1.NodeClaimList{}, ownName, false),
		"trusts-its-cache":            {Sabotage: launchesUncached},
		"times-launches-by-its-clock": claimLie(givesUpOld),
		"launches-the-future-again":   {Sabotage: launchesFuture},
		"launches-again-at-once":      claimLie(launchesRefused),
		"ends-what-cannot-be-renewed": {Sabotage: endsUnready},
	}
}

// relaunches copies NodeClaims from before the restart that are not initialized.
func relaunches(started time.Time) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.CreationTimestamp.After(started) || !claim.DeletionTimestamp.IsZero() ||
			reached(claim, v1.ConditionTypeInitialized) {
			return true, nil
		}
		_, err := copyOf(ctx, c, claim)
		return true, err
	}
}

// launchesAgain copies NodeClaims that are not registered 15 seconds after they were made.
func launchesAgain(ctx context.Context, c client.Client) error {
	return copiesOnce(ctx, c, func(claim *v1.NodeClaim) bool {
		return time.Since(claim.CreationTimestamp.Time) >= 15*time.Second && !reached(claim, v1.ConditionTypeRegistered) &&
			claim.DeletionTimestamp.IsZero()
	})
}

// launchesFuture copies NodeClaims that will be made in 20 seconds or more, by its own clock.
func launchesFuture(ctx context.Context, c client.Client) error {
	return copiesOnce(ctx, c, func(claim *v1.NodeClaim) bool {
		return time.Until(claim.CreationTimestamp.Time) >= 20*time.Second && claim.DeletionTimestamp.IsZero()
	})
}

// copiesOnce looks every second which NodeClaims are due, and copies each once, but no copies.
func copiesOnce(ctx context.Context, c client.Client, due func(*v1.NodeClaim) bool) error {
	copied := map[types.UID]bool{}
	return wait.PollUntilContextCancel(ctx, time.Second, false, func(ctx context.Context) (bool, error) {
		claims := &v1.NodeClaimList{}
		if err := c.List(ctx, claims); err != nil {
			return false, err
		}
		for i := range claims.Items {
			claim := &claims.Items[i]
			if copied[claim.UID] || !due(claim) {
				continue
			}
			copied[claim.UID] = true
			if another, err := copyOf(ctx, c, claim); err == nil {
				copied[another.UID] = true
			}
		}
		return false, nil
	})
}

// givesUpOld deletes NodeClaims that are 20 seconds old by its own clock and not launched.
func givesUpOld(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if reached(claim, v1.ConditionTypeLaunched) || time.Since(claim.CreationTimestamp.Time) < 20*time.Second {
		return true, nil
	}
	return true, c.Delete(ctx, claim)
}

// launchesRefused copies a NodeClaim as soon as it is given up because the cloud has refused its launch.
func launchesRefused(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || reached(claim, v1.ConditionTypeLaunched) {
		return reached(claim, v1.ConditionTypeLaunched), nil
	}
	pool, err := poolOf(ctx, c, claim)
	if err != nil || !pool.DeletionTimestamp.IsZero() {
		return true, err
	}
	_, err = copyOf(ctx, c, claim)
	return true, err
}

// endsUnready deletes the NodeClaims of a NodeClass that isn't ready.
func endsUnready(ctx context.Context, c client.Client) error {
	return follow(ctx, c, &kwokv1alpha1.KWOKNodeClassList{}, func(ctx context.Context, c client.Client,
		class *kwokv1alpha1.KWOKNodeClass,
	) (bool, error) {
		if !class.StatusConditions().Get(status.ConditionReady).IsFalse() {
			return false, nil
		}
		claims := &v1.NodeClaimList{}
		if err := c.List(ctx, claims); err != nil {
			return false, fmt.Errorf("listing NodeClaims: %w", err)
		}
		var errs []error
		for i := range claims.Items {
			if claim := &claims.Items[i]; claim.Spec.NodeClassRef.Name == class.Name {
				errs = append(errs, client.IgnoreNotFound(c.Delete(ctx, claim)))
			}
		}
		return false, errors.Join(errs...)
	})
}

// endsDrains removes the finalizer of nodes whose drain began before the restart.
func endsDrains(started time.Time) act[*corev1.Node] {
	return func(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
		if node.CreationTimestamp.After(started) {
			return true, nil
		}
		if node.DeletionTimestamp.IsZero() || node.DeletionTimestamp.After(started) {
			return false, nil
		}
		return true, change(ctx, c, node, func(node *corev1.Node) {
			controllerutil.RemoveFinalizer(node, v1.TerminationFinalizer)
		})
	}
}

// replacesUnready deletes an initialized node as soon as it is tainted as not ready.
func replacesUnready(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	unready := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if node.Labels[v1.NodeInitializedLabelKey] != "true" || !tainted(node, unready) || !node.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return true, c.Delete(ctx, node)
}
