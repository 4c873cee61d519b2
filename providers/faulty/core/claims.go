package core

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// collecting is the controller that deletes NodeClaims without an instance.
const collecting = "nodeclaim.garbagecollection"

// claimLies returns the lies about NodeClaims that fail.
func claimLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"never-misses-an-instance": leavesOut(collecting),
		"never-loses-patience": reads(func(claim *v1.NodeClaim) {
			for i := range claim.Status.Conditions {
				claim.Status.Conditions[i].LastTransitionTime = metav1.NewTime(time.Now())
			}
		}, lifecycle),
	}
}
