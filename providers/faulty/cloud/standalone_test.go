package cloud

import (
	"context"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/karpenter/kwok/options"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestStandaloneLiesSparePools checks that the lies leave a NodePool's NodeClaims alone.
// Otherwise other suites would catch them.
func TestStandaloneLiesSparePools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, _, pooled := launches(t, "forgets-standalone-annotations")
		for _, l := range pooled {
			if l.nodes[0].Annotations[team] != "red" {
				t.Errorf("NodeClaim %s has a NodePool, and its node lost its annotations", l.claim.Name)
			}
		}
		alone := withoutPool("alone")
		told, err := provider.Create(withOptions(t.Context()), alone)
		if err != nil || told.Annotations[team] != "" {
			t.Errorf("a NodeClaim without a NodePool should lose its annotations; got %v, %v", told, err)
		}
	})
}

// TestAnotherNodeClass checks a missing NodeClass, with a NodePool and without one.
func TestAnotherNodeClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, _, _ := launches(t, "takes-another-nodeclass-instead")
		for _, pool := range []string{"", "pool"} {
			claim := withoutPool("lost")
			claim.UID, claim.Spec.NodeClassRef.Name = types.UID("lost"+pool), "nowhere"
			if pool != "" {
				claim.Labels[karpenterv1.NodePoolLabelKey] = pool
			}
			told, err := provider.Create(withOptions(t.Context()), claim)
			if launched := err == nil && told != nil; launched != (pool == "") {
				t.Errorf("pool %q: launched is %t (%v); only a NodeClaim without a NodePool should be", pool, launched, err)
			}
			if claim.Spec.NodeClassRef.Name != "nowhere" {
				t.Error("the NodeClaim itself should not change")
			}
		}
	})
}

func withoutPool(name string) *karpenterv1.NodeClaim {
	claim := asked(name)
	delete(claim.Labels, karpenterv1.NodePoolLabelKey)
	return claim
}

func withOptions(ctx context.Context) context.Context {
	return options.ToContext(ctx, &options.Options{})
}
