package saboteur

import (
	"context"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// takesRegistrationBack sets a NodeClaim's condition Registered to Unknown. Core registers it
// again.
func takesRegistrationBack(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) {
		return false, nil
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.StatusConditions().SetUnknownWithReason(v1.ConditionTypeRegistered, "NodeNotFound",
			"Node not registered with cluster")
	})
}

// changesProviderIDs gives a NodeClaim another provider ID, and then restores it.
func changesProviderIDs(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) {
		return false, nil
	}
	id := claim.Status.ProviderID
	err := changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) { claim.Status.ProviderID = id + "-other" })
	if err != nil {
		return false, err
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) { claim.Status.ProviderID = id })
}

// rewritesHashes gives one NodeClaim of each pool a wrong hash, and keeps the hash version.
func rewritesHashes() act[*v1.NodeClaim] {
	over := map[string]bool{} // pools that are done
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		pool := claim.Labels[v1.NodePoolLabelKey]
		if over[pool] || !alive(claim) {
			return false, nil
		}
		over[pool] = true
		return true, change(ctx, c, claim, func(claim *v1.NodeClaim) {
			claim.Annotations[v1.NodePoolHashAnnotationKey] = "0"
		})
	}
}

// givesNoReason empties the reason of the condition Initialized.
func givesNoReason(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) {
		return false, nil
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		if i := indexOf(claim, v1.ConditionTypeInitialized); i >= 0 {
			claim.Status.Conditions[i].Reason = ""
		}
	})
}

// stampsChangesInThePast changes a condition's status and moves its lastTransitionTime back by
// an hour, as with a wrong clock.
func stampsChangesInThePast(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || !reached(claim, v1.ConditionTypeConsistentStateFound) {
		return false, nil
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		if i := indexOf(claim, v1.ConditionTypeConsistentStateFound); i >= 0 {
			condition := &claim.Status.Conditions[i]
			condition.Status, condition.Reason = metav1.ConditionFalse, "ConsistencyCheckFailed"
			condition.LastTransitionTime = metav1.NewTime(condition.LastTransitionTime.Add(-time.Hour))
		}
	})
}

// indexOf returns the index of a NodeClaim's condition, or -1.
func indexOf(claim *v1.NodeClaim, kind string) int {
	return slices.IndexFunc(claim.Status.Conditions, func(c status.Condition) bool { return c.Type == kind })
}

// panicked is an annotation that records a panic across restarts of the controller.
const panicked = "plumbline.dev/panicked"

// panicsAfterInitialization panics once for each initialized NodeClaim.
func panicsAfterInitialization(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || claim.Annotations[panicked] != "" {
		return false, nil
	}
	if err := change(ctx, c, claim, func(claim *v1.NodeClaim) { claim.Annotations[panicked] = "true" }); err != nil {
		return false, err
	}
	panic("deliberate panic for NodeClaim " + claim.Name)
}
