package sdktest

import (
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v9"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// names of the agent pool: the resource group, the cluster and the pool.
const aksGroup, aks, pool = "aks", "aks", "machines"

func aksMachine(size string) armcontainerservice.Machine {
	return armcontainerservice.Machine{
		Zones: []*string{new("1")},
		Properties: &armcontainerservice.MachineProperties{
			Hardware: &armcontainerservice.MachineHardwareProfile{VMSize: &size},
			Priority: new(armcontainerservice.ScaleSetPriorityRegular),
			Tags:     map[string]*string{"a": new("b")},
		},
	}
}

func TestAMachineOfAKS(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	machines, err := armcontainerservice.NewMachinesClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	pools, err := armcontainerservice.NewAgentPoolsClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = pools.Get(ctx, aksGroup, aks, pool, nil)
	g.Expect(err).NotTo(HaveOccurred())

	_, err = machines.BeginCreateOrUpdate(ctx, aksGroup, aks, pool, "m", aksMachine("Standard_Z1"), nil)
	g.Expect(err).To(HaveCode("VMSizeNotSupported"))
	created, err := machines.BeginCreateOrUpdate(ctx, aksGroup, aks, pool, "m", aksMachine("Standard_D4s_v5"), nil)
	g.Expect(err).NotTo(HaveOccurred())
	m, err := created.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*m.Properties.ProvisioningState).To(Equal("Succeeded"))
	g.Expect(*m.Properties.ResourceID).To(HaveSuffix("/virtualMachines/aks-machines-m-12345678-vm"))
	g.Expect(m.Properties.Status.CreationTimestamp).NotTo(BeNil())

	changed := aksMachine("Standard_D4s_v5")
	changed.Properties.Tags = map[string]*string{"c": new("d")}
	_, err = machines.BeginCreateOrUpdate(ctx, aksGroup, aks, pool, "m", changed, nil)
	g.Expect(err).NotTo(HaveOccurred())
	s.hook(t, http.MethodPost, "/_sim/drift?id=aks-machines-m-12345678-vm")
	page, err := machines.NewListPager(aksGroup, aks, pool, nil).NextPage(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(page.Value).To(HaveLen(1))
	g.Expect(page.Value[0].Properties.Tags).To(HaveKey("c"))
	g.Expect(*page.Value[0].Properties.Status.DriftAction).To(Equal(armcontainerservice.DriftActionRecreate))

	names := armcontainerservice.AgentPoolDeleteMachinesParameter{MachineNames: []*string{new("m")}}
	ended, err := pools.BeginDeleteMachines(ctx, aksGroup, aks, pool, names, nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = ended.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = machines.Get(ctx, aksGroup, aks, pool, "m", nil)
	g.Expect(err).To(HaveCode("ResourceNotFound"))
	_, err = pools.BeginDeleteMachines(ctx, aksGroup, aks, pool, names, nil)
	g.Expect(err).To(HaveCode("InvalidParameter"))
}

func TestAMachineFailsLaterWithoutCapacity(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	g.Expect(s.Faults.Add(simulator.Fault{Kind: simulator.NoCapacity})).To(Succeed())
	machines, err := armcontainerservice.NewMachinesClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	created, err := machines.BeginCreateOrUpdate(ctx, aksGroup, aks, pool, "m", aksMachine("Standard_D4s_v5"), nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = created.PollUntilDone(ctx, quickly())
	g.Expect(err).To(HaveOccurred())
	m, err := machines.Get(ctx, aksGroup, aks, pool, "m", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*m.Properties.ProvisioningState).To(Equal("Failed"))
	g.Expect(*m.Properties.Status.ProvisioningError.Code).To(Equal("AllocationFailed"))
}

func TestFaultsOfLaunchesStrikeVirtualMachinesAndMachines(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	machines, err := armcontainerservice.NewMachinesClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Faults.Add(simulator.Fault{Kind: simulator.Denied, Call: "launch", Count: 2})).To(Succeed())
	_, err = machines.NewListPager(aksGroup, aks, pool, nil).NextPage(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "1", nil))).To(HaveCode("AuthorizationFailed"))
	_, err = machines.BeginCreateOrUpdate(ctx, aksGroup, aks, pool, "m", aksMachine("Standard_D4s_v5"), nil)
	g.Expect(err).To(HaveCode("AuthorizationFailed"))
}

func TestALeakedMachineIsListed(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	machines, err := armcontainerservice.NewMachinesClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = machines.BeginCreateOrUpdate(ctx, aksGroup, aks, pool, "m", aksMachine("Standard_D4s_v5"), nil)
	g.Expect(err).NotTo(HaveOccurred())
	s.hook(t, http.MethodPost, "/_sim/instances/leak")
	page, err := machines.NewListPager(aksGroup, aks, pool, nil).NextPage(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(page.Value).To(HaveLen(2))
	g.Expect(*page.Value[1].Properties.ResourceID).NotTo(Equal(*page.Value[0].Properties.ResourceID))
}
