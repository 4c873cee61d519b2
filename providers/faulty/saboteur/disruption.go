package saboteur

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// blink is how long a node is disrupted wrongly. It is too short for a check that polls.
const blink = 50 * time.Millisecond

// disruptsOneTooMany marks one node more than the budgets of a pool allow as disrupted, for a
// moment and once per pool, as two controllers do that count at the same time.
func disruptsOneTooMany() act[*v1.NodeClaim] {
	over := map[types.UID]bool{} // pools that are done
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if !reached(claim, v1.ConditionTypeDisruptionReason) && voluntary(claim) == "" {
			return false, nil
		}
		pool, err := poolOf(ctx, c, claim)
		if err != nil || over[pool.UID] {
			return false, err
		}
		claims, err := claimsOf(ctx, c, pool)
		if err != nil {
			return false, err
		}
		next := tooMany(pool, claims)
		if next == nil {
			return false, nil
		}
		over[pool.UID] = true
		return false, disruptFor(ctx, c, next, blink)
	}
}

// tooMany returns a NodeClaim whose disruption would exceed its pool's budgets by one, or nil.
func tooMany(pool *v1.NodePool, claims []v1.NodeClaim) *v1.NodeClaim {
	var idle *v1.NodeClaim
	nodes, disrupted := 0, 0
	for i := range claims {
		claim := &claims[i]
		switch {
		case !reached(claim, v1.ConditionTypeInitialized) || reached(claim, v1.ConditionTypeInstanceTerminating):
			continue
		case !claim.DeletionTimestamp.IsZero() || reached(claim, v1.ConditionTypeDisruptionReason):
			disrupted++
		case voluntary(claim) != "":
			idle = claim
		}
		nodes++
	}
	if idle == nil || disrupted < pool.MustGetAllowedDisruptions(clock.RealClock{}, nodes, voluntary(idle)) {
		return nil
	}
	return idle
}

// voluntary returns the reason for which a NodeClaim could be disrupted, or "".
func voluntary(claim *v1.NodeClaim) v1.DisruptionReason {
	switch {
	case reached(claim, v1.ConditionTypeDrifted):
		return v1.DisruptionReasonDrifted
	case reached(claim, v1.ConditionTypeConsolidatable):
		return v1.DisruptionReasonEmpty
	default:
		return ""
	}
}

// disruptFor marks a node as disrupted for the duration d.
func disruptFor(ctx context.Context, c client.Client, claim *v1.NodeClaim, d time.Duration) error {
	why := string(voluntary(claim))
	if err := change(ctx, c, nodeOf(claim), taint(v1.DisruptedNoScheduleTaint)); err != nil {
		return err
	}
	err := changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.StatusConditions().SetTrueWithReason(v1.ConditionTypeDisruptionReason, why, why)
	})
	if err != nil {
		return err
	}
	pause(ctx, d)
	err = changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		_ = claim.StatusConditions().Clear(v1.ConditionTypeDisruptionReason) // fails only for what Ready sums up
	})
	if err != nil {
		return err
	}
	return change(ctx, c, nodeOf(claim), untaint(v1.DisruptedNoScheduleTaint))
}

// disruptsProtectedNodes marks a drifted node as disrupted for a moment, although it has a
// do-not-disrupt pod and its NodeClaim has no terminationGracePeriod.
func disruptsProtectedNodes(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || !reached(claim, v1.ConditionTypeDrifted) || claim.Spec.TerminationGracePeriod != nil {
		return false, nil
	}
	pods, err := podsOn(ctx, c, claim.Status.NodeName)
	if err != nil {
		return false, err
	}
	for i := range pods {
		if protected(&pods[i]) {
			return true, disruptFor(ctx, c, claim, blink)
		}
	}
	return true, nil
}

// deletesBeforeReplacement deletes a NodeClaim as soon as it is chosen for drift, before there
// is a replacement for its pods.
func deletesBeforeReplacement(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !reached(claim, v1.ConditionTypeDisruptionReason) || !reached(claim, v1.ConditionTypeDrifted) {
		return false, nil
	}
	return true, c.Delete(ctx, claim)
}

// replacesTwice copies each NodeClaim that is created while another one of its pool is
// disrupted, as if the request for a replacement were sent twice.
func replacesTwice() act[*v1.NodeClaim] {
	own := map[types.UID]bool{}
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if own[claim.UID] || claim.Status.ProviderID != "" || !claim.DeletionTimestamp.IsZero() {
			return true, nil
		}
		pool, err := poolOf(ctx, c, claim)
		if err != nil {
			return false, err
		}
		claims, err := claimsOf(ctx, c, pool)
		if err != nil {
			return false, err
		}
		for i := range claims {
			if reached(&claims[i], v1.ConditionTypeDisruptionReason) {
				another, err := copyOf(ctx, c, claim)
				if err == nil {
					own[another.UID] = true
				}
				return true, err
			}
		}
		return false, nil
	}
}

// replacesEmptyNodes adds a NodeClaim for each drifted one that is being deleted and whose
// node has no pods.
func replacesEmptyNodes() act[*v1.NodeClaim] {
	own := map[types.UID]bool{}
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if own[claim.UID] || claim.DeletionTimestamp.IsZero() || !reached(claim, v1.ConditionTypeDrifted) {
			return own[claim.UID], nil
		}
		pool, err := poolOf(ctx, c, claim)
		if err != nil || !pool.DeletionTimestamp.IsZero() {
			return true, err
		}
		pods, err := podsOn(ctx, c, claim.Status.NodeName)
		if err != nil || len(pods) > 0 {
			return true, err
		}
		another, err := copyOf(ctx, c, claim)
		if err == nil {
			own[another.UID] = true
		}
		return true, err
	}
}

// driftsWithoutCause marks a pool's NodeClaims as drifted when the pool changes but its
// template does not.
func driftsWithoutCause(ctx context.Context, c client.Client) error {
	type seen struct {
		generation int64
		template   string
	}
	known := map[types.UID]seen{}
	return follow(ctx, c, &v1.NodePoolList{}, func(ctx context.Context, c client.Client, pool *v1.NodePool) (bool, error) {
		was, old := known[pool.UID]
		is := seen{pool.Generation, pool.Hash()}
		known[pool.UID] = is
		if !old || was.generation == is.generation || was.template != is.template || !pool.DeletionTimestamp.IsZero() {
			return false, nil
		}
		claims, err := claimsOf(ctx, c, pool)
		if err != nil {
			return false, err
		}
		for i := range claims {
			if err := changeStatus(ctx, c, &claims[i], drift); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

// driftsBackAndForth marks a NodeClaim as drifted twice: again after core has corrected it.
func driftsBackAndForth() act[*v1.NodeClaim] {
	times := map[types.UID]int{}
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if !alive(claim) || reached(claim, v1.ConditionTypeDrifted) {
			return false, nil
		}
		times[claim.UID]++
		return times[claim.UID] == 2, changeStatus(ctx, c, claim, drift)
	}
}

func drift(claim *v1.NodeClaim) {
	claim.StatusConditions().SetTrueWithReason(v1.ConditionTypeDrifted, "NodePoolDrifted", "NodePoolDrifted")
}

// plenty bounds the number of NodeClaims of a pool, so that the machine survives a runaway.
const plenty = 45

// launchesWithoutEnd adds a NodeClaim for each that is launched.
func launchesWithoutEnd(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.Status.ProviderID == "" || !claim.DeletionTimestamp.IsZero() {
		return false, nil
	}
	pool, err := poolOf(ctx, c, claim)
	if err != nil || !pool.DeletionTimestamp.IsZero() {
		return true, err
	}
	claims, err := claimsOf(ctx, c, pool)
	if err != nil || len(claims) >= plenty {
		return true, err
	}
	_, err = copyOf(ctx, c, claim)
	return true, err
}
