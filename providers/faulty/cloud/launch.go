package cloud

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

func neverLaunches(context.Context, cloud, *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	return nil, errors.New("the cloud answers: internal error")
}

// leaksAnother launches two instances, as a retry without an idempotency token does.
func leaksAnother(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	if _, err := honest.Create(ctx, claim); err != nil {
		return nil, err
	}
	return honest.Create(ctx, claim)
}

// launchesThenFails launches an instance and returns an error, once for each NodeClaim, so
// that core asks for another one.
func launchesThenFails() creator {
	var claims firsts
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		created, err := honest.Create(ctx, claim)
		if err == nil && claims.of(string(claim.UID)) {
			return nil, errors.New("waiting for the cloud: timed out")
		}
		return created, err
	}
}

// launchesOncePerPool returns a lie: all NodeClaims of a pool get the same instance, as if the
// pool's name were the idempotency token.
func launchesOncePerPool() lie.Lie {
	var mu sync.Mutex
	instances := map[string]*karpenterv1.NodeClaim{} // by pool
	return lie.Lie{Cloud: lying(liar{
		create: func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
			mu.Lock()
			defer mu.Unlock()
			if instance := instances[poolName(claim)]; instance != nil {
				return instance, nil
			}
			created, err := honest.Create(ctx, claim)
			if err == nil {
				instances[poolName(claim)] = created.DeepCopy()
			}
			return created, err
		},
		end: func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) error {
			mu.Lock()
			delete(instances, poolName(claim))
			mu.Unlock()
			return honest.Delete(ctx, claim)
		},
	})}
}

// diesAfterLaunch panics a second after it is called, in a goroutine without recovery.
func diesAfterLaunch(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	time.AfterFunc(time.Second, func() { panic("index out of range: the instance has no network interface") })
	return honest.Create(ctx, claim)
}

// refusesOlder says that the NodeClass isn't ready for NodeClaims that have waited for the controller when it makes its
// first launch, as if it had to learn something about it first.
func refusesOlder() creator {
	begins := sync.OnceValue(time.Now)
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		if begins().Sub(claim.CreationTimestamp.Time) > 5*time.Second {
			return nil, cloudprovider.NewNodeClassNotReadyError(errors.New("resolving the cluster's network"))
		}
		return honest.Create(ctx, claim)
	}
}

func hasNoProviderID(created *karpenterv1.NodeClaim) { created.Status.ProviderID = "" }

// hasTenfoldRoom multiplies the resources of a NodeClaim by ten.
func hasTenfoldRoom(created *karpenterv1.NodeClaim) {
	for _, resources := range []corev1.ResourceList{created.Status.Capacity, created.Status.Allocatable} {
		for name, quantity := range resources {
			quantity.Mul(10)
			resources[name] = quantity
		}
	}
}

func hasNoAllocatable(created *karpenterv1.NodeClaim) { created.Status.Allocatable = nil }

func onAndOff() func() bool {
	var (
		mu sync.Mutex
		on bool
	)
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		on = !on
		return on
	}
}

func poolName(claim *karpenterv1.NodeClaim) string { return claim.Labels[karpenterv1.NodePoolLabelKey] }
