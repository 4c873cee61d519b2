package saboteur

import (
	"context"
	"maps"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// UpgradeLies returns the lies of a release that takes over from an honest one: it changes what it finds.
func UpgradeLies() map[string]lie.Lie {
	started := time.Now()
	return map[string]lie.Lie{
		"drops-annotations-of-old-claims": claimLie(dropsAnnotations(started)),
		"begins-deadlines-anew":           claimLie(beginsDeadlinesAnew),
		"ends-old-standalone-claims":      claimLie(standalone(endsOld(started))),
	}
}

// dropsAnnotations rewrites NodeClaims from before the start without annotations that aren't Karpenter's.
func dropsAnnotations(started time.Time) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.CreationTimestamp.After(started) {
			return true, nil
		}
		return true, change(ctx, c, claim, func(claim *v1.NodeClaim) {
			maps.DeleteFunc(claim.Annotations, func(key, _ string) bool { return !strings.HasPrefix(key, apis.Group+"/") })
		})
	}
}

// beginsDeadlinesAnew counts the terminationGracePeriod of a drain from now on, and so once more.
func beginsDeadlinesAnew(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.Spec.TerminationGracePeriod == nil {
		return false, nil
	}
	end := time.Now().Add(claim.Spec.TerminationGracePeriod.Duration).Format(time.RFC3339)
	return true, change(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = end
	})
}

// endsOld deletes NodeClaims from before the start.
func endsOld(started time.Time) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.CreationTimestamp.After(started) {
			return true, nil
		}
		return true, c.Delete(ctx, claim)
	}
}
