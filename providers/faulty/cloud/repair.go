package cloud

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// repairing returns a lie that edits each repair policy.
func repairing(edit func(*cloudprovider.RepairPolicy)) lie.Lie {
	return lie.Lie{Cloud: func(honest cloudprovider.CloudProvider, _ client.Client) cloudprovider.CloudProvider {
		return repairer{honest, edit}
	}}
}

// toleratesNothing lets unhealthy nodes be repaired at once.
func toleratesNothing(policy *cloudprovider.RepairPolicy) { policy.TolerationDuration = 0 }

// replacesAll replaces what a reboot would mend.
func replacesAll(policy *cloudprovider.RepairPolicy) { policy.Action = cloudprovider.ReplaceNode }

// drainsForLonger gives unhealthy nodes that are drained half a minute more.
func drainsForLonger(policy *cloudprovider.RepairPolicy) {
	if bound := policy.TerminationGracePeriod; bound != nil && *bound > 0 {
		policy.TerminationGracePeriod = new(*bound + 30*time.Second)
	}
}

// repairer is a cloud with other repair policies.
type repairer struct {
	cloudprovider.CloudProvider
	edit func(*cloudprovider.RepairPolicy)
}

// RepairPolicies returns the honest policies, edited.
func (r repairer) RepairPolicies() []cloudprovider.RepairPolicy {
	policies := slices.Clone(r.CloudProvider.RepairPolicies())
	for n := range policies {
		r.edit(&policies[n])
	}
	return policies
}
