package cloud

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// hurries returns a lie: repair policies tolerate unhealthy nodes for no time.
func hurries() lie.Lie {
	return lie.Lie{Cloud: func(honest cloudprovider.CloudProvider, _ client.Client) cloudprovider.CloudProvider {
		return impatient{honest}
	}}
}

// impatient is a cloud whose unhealthy nodes are repaired at once.
type impatient struct{ cloudprovider.CloudProvider }

// RepairPolicies returns the honest policies with a toleration of zero.
func (i impatient) RepairPolicies() []cloudprovider.RepairPolicy {
	policies := slices.Clone(i.CloudProvider.RepairPolicies())
	for n := range policies {
		policies[n].TolerationDuration = 0
	}
	return policies
}
