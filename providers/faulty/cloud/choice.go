package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Some of these lies are about the first launch only. A spec then sees two instances instead
// of one, and does not wait for pods that never run.

// launchesTooSmall launches the smallest instance for each pool's first NodeClaim.
func launchesTooSmall() creator {
	var pools firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		if !pools.of(poolName(claim)) {
			return honest.Create(ctx, claim)
		}
		types, err := honest.GetInstanceTypes(ctx, nil)
		if err != nil {
			return nil, err
		}
		asked := indifferentTo(claim, corev1.LabelInstanceTypeStable)
		wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(asked.Spec.Requirements...)
		fit := slices.DeleteFunc(slices.Clone(types), func(t *cloudprovider.InstanceType) bool {
			return t.Requirements.Intersects(wanted) != nil
		})
		if len(fit) == 0 {
			return nil, fmt.Errorf("no instance type fits NodeClaim %s", claim.Name)
		}
		smallest := slices.MinFunc(fit, func(a, b *cloudprovider.InstanceType) int {
			return a.Capacity.Cpu().Cmp(*b.Capacity.Cpu())
		})
		return honest.Create(ctx, requiring(asked, corev1.LabelInstanceTypeStable, smallest.Name))
	}
}

// launchesTheDearest launches the allowed instance with most CPUs. It is the most expensive,
// because KWOK's prices rise with CPUs and memory.
func launchesTheDearest(ctx context.Context, honest cloud,
	claim *karpenterv1.NodeClaim,
) (*karpenterv1.NodeClaim, error) {
	types, err := honest.GetInstanceTypes(ctx, nil)
	if err != nil {
		return nil, err
	}
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	fit := slices.DeleteFunc(slices.Clone(types), func(t *cloudprovider.InstanceType) bool {
		return t.Requirements.Intersects(wanted) != nil
	})
	if len(fit) == 0 {
		return nil, fmt.Errorf("no instance type fits NodeClaim %s", claim.Name)
	}
	dearest := slices.MaxFunc(fit, func(a, b *cloudprovider.InstanceType) int {
		return a.Capacity.Cpu().Cmp(*b.Capacity.Cpu())
	})
	return honest.Create(ctx, requiring(indifferentTo(claim, corev1.LabelInstanceTypeStable),
		corev1.LabelInstanceTypeStable, dearest.Name))
}

// manyCPUs returns more than core asks for.
func manyCPUs() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16")}
}

// launchesOnDemand launches on-demand for each pool's first NodeClaim that requires spot.
func launchesOnDemand() creator {
	var pools firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...).
			Get(karpenterv1.CapacityTypeLabelKey)
		if wanted.Has(karpenterv1.CapacityTypeOnDemand) || !pools.of(poolName(claim)) {
			return honest.Create(ctx, claim)
		}
		asked := indifferentTo(claim, karpenterv1.CapacityTypeLabelKey)
		return honest.Create(ctx, requiring(asked, karpenterv1.CapacityTypeLabelKey, karpenterv1.CapacityTypeOnDemand))
	}
}

// prefersOnDemand launches on-demand for each NodeClaim that allows it.
func prefersOnDemand(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	allowed := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...).
		Get(karpenterv1.CapacityTypeLabelKey)
	if !allowed.Has(karpenterv1.CapacityTypeOnDemand) {
		return honest.Create(ctx, claim)
	}
	return honest.Create(ctx,
		requiring(claim.DeepCopy(), karpenterv1.CapacityTypeLabelKey, karpenterv1.CapacityTypeOnDemand))
}

// ignoresRequirements launches an unwanted value of a label for the first NodeClaim of each
// pool that allows fewer of its values than the pool.
func ignoresRequirements() creator {
	var pools firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		pool := &karpenterv1.NodePool{}
		if err := honest.client.Get(ctx, client.ObjectKey{Name: poolName(claim)}, pool); err != nil {
			return nil, err
		}
		wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
		for _, allowed := range pool.Spec.Template.Spec.Requirements {
			unwanted := slices.DeleteFunc(slices.Clone(allowed.Values), wanted.Get(allowed.Key).Has)
			if provider(allowed.Key) || len(unwanted) == 0 || !pools.of(pool.Name) {
				continue
			}
			claim.Labels[allowed.Key] = unwanted[0]
			return honest.Create(ctx, indifferentTo(claim, allowed.Key))
		}
		return honest.Create(ctx, claim)
	}
}

// forgetsLabels drops the template's labels whose keys it sees for the first time, as a cloud
// does where tags must be created before use.
func forgetsLabels() creator {
	var keys firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		lost := slices.DeleteFunc(slices.Collect(maps.Keys(claim.Labels)), func(key string) bool {
			return provider(key) || !keys.of(key)
		})
		for _, key := range lost {
			delete(claim.Labels, key)
		}
		return honest.Create(ctx, indifferentTo(claim, lost...))
	}
}

// forgetsAnnotations drops the template's annotations.
func forgetsAnnotations(ctx context.Context, honest cloud,
	claim *karpenterv1.NodeClaim,
) (*karpenterv1.NodeClaim, error) {
	maps.DeleteFunc(claim.Annotations, func(key, _ string) bool { return !provider(key) })
	return honest.Create(ctx, claim)
}

func hasNoCapacityType(labels map[string]string) { delete(labels, karpenterv1.CapacityTypeLabelKey) }

func hasNoZone(labels map[string]string) { delete(labels, corev1.LabelTopologyZone) }

func hasWrongArchitecture(labels map[string]string) {
	labels[corev1.LabelArchStable] = karpenterv1.ArchitectureArm64
}

// indifferentTo returns a copy of a NodeClaim without its requirements of those labels.
func indifferentTo(claim *karpenterv1.NodeClaim, keys ...string) *karpenterv1.NodeClaim {
	claim = claim.DeepCopy()
	claim.Spec.Requirements = slices.DeleteFunc(claim.Spec.Requirements,
		func(r karpenterv1.NodeSelectorRequirementWithMinValues) bool {
			return slices.Contains(keys, r.Key)
		})
	return claim
}

// requiring adds a requirement of one label value to a NodeClaim, in place.
func requiring(claim *karpenterv1.NodeClaim, key, value string) *karpenterv1.NodeClaim {
	claim.Spec.Requirements = append(claim.Spec.Requirements, karpenterv1.NodeSelectorRequirementWithMinValues{
		Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value},
	})
	return claim
}

// provider reports whether a label or annotation belongs to KWOK, Karpenter or Kubernetes, or
// has no domain. Others are a user's own.
func provider(key string) bool {
	return of(key, "karpenter.sh", "k8s.io", "kubernetes.io", "karpenter.kwok.sh")
}

// of reports whether a key has no domain or one that ends with any of the given ones.
func of(key string, domains ...string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	return !qualified || slices.ContainsFunc(domains, func(d string) bool { return strings.HasSuffix(domain, d) })
}
