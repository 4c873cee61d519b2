package cloud

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// offering returns a lie that edits each instance type.
func offering(edit func(*cloudprovider.InstanceType)) lie.Lie {
	var (
		once   sync.Once
		edited []*cloudprovider.InstanceType
		err    error
	)
	return lie.Lie{Cloud: lying(liar{types: func(ctx context.Context, honest cloud,
		pool *karpenterv1.NodePool,
	) ([]*cloudprovider.InstanceType, error) {
		once.Do(func() { // KWOK's instance types never change
			var types []*cloudprovider.InstanceType
			types, err = honest.GetInstanceTypes(ctx, pool)
			for _, t := range types {
				t = t.DeepCopy()
				edit(t)
				edited = append(edited, t)
			}
		})
		return edited, err
	}})}
}

func hasNoSpot(t *cloudprovider.InstanceType) {
	t.Offerings = slices.DeleteFunc(t.Offerings, func(o *cloudprovider.Offering) bool {
		return o.CapacityType() == karpenterv1.CapacityTypeSpot
	})
}

// hasRoomForTwo counts pods too low, as a cloud does that counts the addresses of one network
// interface only.
func hasRoomForTwo(t *cloudprovider.InstanceType) { hasRoomForTwoOf(t.Capacity) }

// hasThousandfoldCPUs reads millicores as cores.
func hasThousandfoldCPUs(t *cloudprovider.InstanceType) { thousandfold(t, corev1.ResourceCPU) }

func hasThousandfoldPods(t *cloudprovider.InstanceType) { thousandfold(t, corev1.ResourcePods) }

func thousandfold(t *cloudprovider.InstanceType, name corev1.ResourceName) {
	all := t.Capacity[name]
	all.Mul(1000)
	t.Capacity[name] = all
}

// nothingForTheHeaviest returns no instance types for the pool with the greatest weight while
// there are lighter ones.
func nothingForTheHeaviest(ctx context.Context, honest cloud,
	pool *karpenterv1.NodePool,
) ([]*cloudprovider.InstanceType, error) {
	pools := &karpenterv1.NodePoolList{}
	if err := honest.client.List(ctx, pools); err != nil {
		return nil, fmt.Errorf("listing NodePools: %w", err)
	}
	lighter := func(other karpenterv1.NodePool) bool { return weight(&other) < weight(pool) }
	heavier := func(other karpenterv1.NodePool) bool { return weight(&other) > weight(pool) }
	if slices.ContainsFunc(pools.Items, lighter) && !slices.ContainsFunc(pools.Items, heavier) {
		return nil, nil
	}
	return honest.GetInstanceTypes(ctx, pool)
}

func weight(pool *karpenterv1.NodePool) int32 {
	if pool == nil || pool.Spec.Weight == nil {
		return 0
	}
	return *pool.Spec.Weight
}

// typePerZone lists an instance type once for each zone, always by the same name.
func typePerZone(ctx context.Context, honest cloud, pool *karpenterv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	types, err := honest.GetInstanceTypes(ctx, pool)
	var all []*cloudprovider.InstanceType
	for _, t := range types {
		for _, zone := range t.Requirements.Get(corev1.LabelTopologyZone).Values() {
			one := t.DeepCopy()
			one.Requirements[corev1.LabelTopologyZone] = scheduling.NewRequirement(corev1.LabelTopologyZone,
				corev1.NodeSelectorOpIn, zone)
			one.Offerings = slices.DeleteFunc(one.Offerings, func(o *cloudprovider.Offering) bool { return o.Zone() != zone })
			all = append(all, one)
		}
	}
	return all, err
}

// onlyWhatIsLeft leaves out what is sold out, in place of marking it.
func onlyWhatIsLeft(ctx context.Context, honest cloud,
	pool *karpenterv1.NodePool,
) ([]*cloudprovider.InstanceType, error) {
	return reoffered(ctx, honest, pool, func(t *cloudprovider.InstanceType) {
		t.Offerings = slices.DeleteFunc(t.Offerings, func(o *cloudprovider.Offering) bool { return !o.Available })
	})
}

// allAvailable offers what is full as well.
func allAvailable(ctx context.Context, honest cloud,
	pool *karpenterv1.NodePool,
) ([]*cloudprovider.InstanceType, error) {
	return reoffered(ctx, honest, pool, func(t *cloudprovider.InstanceType) {
		for _, o := range t.Offerings {
			o.Available = true
		}
	})
}

// reoffered returns edited copies of the instance types as they are now.
func reoffered(ctx context.Context, honest cloud, pool *karpenterv1.NodePool,
	edit func(*cloudprovider.InstanceType),
) ([]*cloudprovider.InstanceType, error) {
	types, err := honest.GetInstanceTypes(ctx, pool)
	copies := make([]*cloudprovider.InstanceType, 0, len(types))
	for _, t := range types {
		t = t.DeepCopy()
		edit(t)
		copies = append(copies, t)
	}
	return copies, err
}
