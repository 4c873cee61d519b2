package saboteur

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// rebootsThatHelp is how often a node is rebooted before it is replaced, as in core.
const rebootsThatHelp = 2

// countsRebootsForEver ends a node that must be rebooted a third time, however long ago the others were.
func countsRebootsForEver() act[*corev1.Node] {
	type faults struct {
		met int
		now bool
	}
	all := map[types.UID]faults{}
	return func(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
		f, was := all[node.UID], all[node.UID].now
		f.now = slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == kwok.KWOKRebootRequiredCondition && c.Status == corev1.ConditionTrue
		})
		if f.now && !was {
			f.met++
		}
		all[node.UID] = f
		if f.met <= rebootsThatHelp {
			return false, nil
		}
		return true, endNodeClaimOf(ctx, c, node)
	}
}

// endNodeClaimOf deletes the NodeClaim of a node.
func endNodeClaimOf(ctx context.Context, c client.Client, node *corev1.Node) error {
	claims := &v1.NodeClaimList{}
	if err := c.List(ctx, claims); err != nil {
		return fmt.Errorf("listing NodeClaims: %w", err)
	}
	var errs []error
	for i := range claims.Items {
		if claims.Items[i].Status.NodeName == node.Name {
			errs = append(errs, c.Delete(ctx, &claims.Items[i]))
		}
	}
	return errors.Join(errs...)
}
