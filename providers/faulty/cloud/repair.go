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

// givesUp returns a lie: repair policies replace what a reboot would mend.
func givesUp() lie.Lie {
	return lie.Lie{Cloud: func(honest cloudprovider.CloudProvider, _ client.Client) cloudprovider.CloudProvider {
		return replacing{honest}
	}}
}

// replacing is a cloud whose unhealthy nodes are never rebooted.
type replacing struct{ cloudprovider.CloudProvider }

// RepairPolicies returns the honest policies, all of which replace nodes.
func (r replacing) RepairPolicies() []cloudprovider.RepairPolicy {
	policies := slices.Clone(r.CloudProvider.RepairPolicies())
	for n := range policies {
		policies[n].Action = cloudprovider.ReplaceNode
	}
	return policies
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
