package saboteur

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestStandaloneLiesSparePools checks that standalone is done with a NodePool's NodeClaim at
// once, and passes others on.
func TestStandaloneLiesSparePools(t *testing.T) {
	for pool, answered := range map[string]bool{"": true, "pool": false} {
		claim := claimWith("claim")
		claim.Labels = map[string]string{v1.NodePoolLabelKey: pool}
		asked := false
		done, err := standalone(func(context.Context, client.Client, *v1.NodeClaim) (bool, error) {
			asked = true
			return false, nil
		})(t.Context(), nil, &claim)
		if asked != answered || done == answered || err != nil {
			t.Errorf("pool %q: asked is %t, done is %t, %v", pool, asked, done, err)
		}
	}
}
