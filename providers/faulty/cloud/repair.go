package cloud

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// hurries returns the lie that unhealthy nodes are tolerated for no time at all.
func hurries() lie.Lie {
	return lie.Lie{Cloud: func(honest cloudprovider.CloudProvider, _ client.Client) cloudprovider.CloudProvider {
		return impatient{honest}
	}}
}

// impatient is a cloud that has nodes repaired as soon as they are unhealthy.
type impatient struct{ cloudprovider.CloudProvider }

// RepairPolicies are the honest ones, without their tolerations.
func (i impatient) RepairPolicies() []cloudprovider.RepairPolicy {
	policies := slices.Clone(i.CloudProvider.RepairPolicies())
	for n := range policies {
		policies[n].TolerationDuration = 0
	}
	return policies
}
