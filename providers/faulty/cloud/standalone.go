package cloud

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// standaloneLies returns the lies about NodeClaims without a NodePool.
func standaloneLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"launches-standalone-too-small":   launching(standalone(launchesTooSmall())),
		"forgets-standalone-annotations":  launching(standalone(forgetsAnnotations)),
		"takes-another-nodeclass-instead": launching(standalone(takesAnotherNodeClass)),
		"overlooks-readiness":             overlooksReadiness(),
		"takes-exclusions-for-choices":    launching(standalone(takesExclusionsForChoices)),
		"launches-any-type-instead":       launching(standalone(launchesAnyTypeInstead)),
	}
}

// standalone limits a creator to NodeClaims without a NodePool.
func standalone(create creator) creator {
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		if poolName(claim) != "" {
			return honest.Create(ctx, claim)
		}
		return create(ctx, honest, claim)
	}
}

// takesExclusionsForChoices launches a value that the NodeClaim excludes.
func takesExclusionsForChoices(ctx context.Context, honest cloud,
	claim *karpenterv1.NodeClaim,
) (*karpenterv1.NodeClaim, error) {
	asked := claim.DeepCopy()
	for i, r := range asked.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpNotIn {
			asked.Spec.Requirements[i].Operator = corev1.NodeSelectorOpIn
		}
	}
	return honest.Create(ctx, asked)
}

// launchesAnyTypeInstead launches some instance type if there is none of those that the NodeClaim allows.
func launchesAnyTypeInstead(ctx context.Context, honest cloud,
	claim *karpenterv1.NodeClaim,
) (*karpenterv1.NodeClaim, error) {
	types, err := honest.GetInstanceTypes(ctx, nil)
	if err != nil {
		return nil, err
	}
	allowed := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...).
		Get(corev1.LabelInstanceTypeStable)
	if slices.ContainsFunc(types, func(t *cloudprovider.InstanceType) bool { return allowed.Has(t.Name) }) {
		return honest.Create(ctx, claim)
	}
	return honest.Create(ctx, requiring(indifferentTo(claim, corev1.LabelInstanceTypeStable),
		corev1.LabelInstanceTypeStable, types[0].Name))
}

// takesAnotherNodeClass launches with any other NodeClass if the NodeClaim's does not exist.
func takesAnotherNodeClass(ctx context.Context, honest cloud,
	claim *karpenterv1.NodeClaim,
) (*karpenterv1.NodeClaim, error) {
	err := honest.client.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, &kwokv1alpha1.KWOKNodeClass{})
	if !apierrors.IsNotFound(err) {
		return honest.Create(ctx, claim)
	}
	classes := &kwokv1alpha1.KWOKNodeClassList{}
	if err := honest.client.List(ctx, classes); err != nil {
		return nil, fmt.Errorf("listing NodeClasses: %w", err)
	}
	if len(classes.Items) == 0 {
		return nil, errors.New("there is no NodeClass at all")
	}
	claim = claim.DeepCopy()
	claim.Spec.NodeClassRef.Name = classes.Items[0].Name
	return honest.Create(ctx, claim)
}

// overlooksReadiness returns a lie: every NodeClass counts as ready.
func overlooksReadiness() lie.Lie {
	return lie.Lie{Instances: func(honest client.Client) client.Client { return readying{honest} }}
}

// readying is a client that reads every NodeClass as ready.
type readying struct{ client.Client }

// Get reads an object. It removes the conditions of a NodeClass.
func (r readying) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := r.Client.Get(ctx, key, o, opts...); err != nil {
		return err
	}
	if class, ok := o.(*kwokv1alpha1.KWOKNodeClass); ok {
		class.Status.Conditions = nil
	}
	return nil
}
