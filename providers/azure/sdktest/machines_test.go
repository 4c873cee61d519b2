package sdktest

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func TestAVirtualMachineLivesAndEndsWithItsNIC(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	nic, err := s.createNIC(ctx, "aks-a")
	g.Expect(err).NotTo(HaveOccurred())
	created, err := s.vms.BeginCreateOrUpdate(ctx, group, "aks-a", machine("Standard_D4s_v5", "2", nic), nil)
	g.Expect(err).NotTo(HaveOccurred())
	v, err := created.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*v.Properties.ProvisioningState).To(Equal("Succeeded"))
	g.Expect(*v.Zones[0]).To(Equal("2"))
	g.Expect(*v.Properties.HardwareProfile.VMSize).To(BeEquivalentTo("Standard_D4s_v5"))
	g.Expect(*v.Properties.TimeCreated).To(BeTemporally("~", time.Now(), time.Minute))
	g.Expect(v.Properties.OSProfile.CustomData).To(BeNil(), "ARM never shows it")

	_, err = s.nics.BeginDelete(ctx, group, "aks-a", nil)
	g.Expect(err).To(HaveCode("NicInUse"))

	ended, err := s.vms.BeginDelete(ctx, group, "aks-a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "", nil))).To(HaveCode("OperationNotAllowed"))
	_, err = ended.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = s.vms.Get(ctx, group, "aks-a", nil)
	g.Expect(err).To(HaveCode("ResourceNotFound"))
	_, err = s.nics.Get(ctx, group, "aks-a", nil)
	g.Expect(err).To(HaveCode("ResourceNotFound"), "it is deleted with the virtual machine")
}

func TestMistakesInVirtualMachines(t *testing.T) {
	ctx, s := t.Context(), newSubscription(t)
	for want, v := range map[string]armcompute.VirtualMachine{
		"InvalidParameter":        machine("Standard_Z1", "", nil),
		"InvalidAvailabilityZone": machine("Standard_D4s_v5", "4", nil),
		"NotFound":                machine("Standard_D4s_v5", "1", new(net+"/networkInterfaces/none")),
	} {
		NewWithT(t).Expect(s.launch(ctx, "aks-a", v)).To(HaveCode(want))
	}
}

func TestTagsAndExtensionsAreChanged(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "", nil))).To(Succeed())
	extensions, err := armcompute.NewVirtualMachineExtensionsClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	put, err := extensions.BeginCreateOrUpdate(ctx, group, "aks-a", "billing", armcompute.VirtualMachineExtension{}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	e, err := put.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*e.ID).To(HaveSuffix("/virtualMachines/aks-a/extensions/billing"))

	tags := map[string]*string{"team": new("blue")}
	update := armcompute.VirtualMachineExtensionUpdate{Tags: tags}
	_, err = extensions.BeginUpdate(ctx, group, "aks-a", "billing", update, nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = extensions.BeginUpdate(ctx, group, "aks-a", "other", update, nil)
	g.Expect(err).To(HaveCode("ResourceNotFound"))
	changed, err := s.vms.BeginUpdate(ctx, group, "aks-a", armcompute.VirtualMachineUpdate{Tags: tags}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = changed.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	v, err := s.vms.Get(ctx, group, "aks-a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(v.Tags).To(HaveLen(1))
	g.Expect(v.Properties.HardwareProfile).NotTo(BeNil())
}

// query returns what Azure Resource Graph finds.
func (s *subscription) query(ctx context.Context, kql string) ([]any, error) {
	client, err := armresourcegraph.NewClient(anybody{}, s.options)
	if err != nil {
		return nil, err
	}
	answer, err := client.Resources(ctx, armresourcegraph.QueryRequest{
		Query: &kql, Subscriptions: []*string{new(id)},
		Options: &armresourcegraph.QueryRequestOptions{ResultFormat: new(armresourcegraph.ResultFormatObjectArray)},
	}, nil)
	found, _ := answer.Data.([]any)
	return found, err
}

func TestResourceGraph(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	nic, err := s.createNIC(ctx, "aks-a")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "1", nic))).To(Succeed())
	const in = ` | where resourceGroup == "mc_group"`
	for query, want := range map[string]int{
		`Resources | where type == "microsoft.compute/virtualmachines"` + in + ` | where tags has_cs "karpenter.sh_nodepool"`: 1,
		`Resources | where type == "microsoft.network/networkinterfaces"` + in:                                                1,
		`Resources | where type == "microsoft.compute/virtualmachines" | where resourceGroup == "other"`:                      0,
		`Resources | where type == "microsoft.compute/virtualmachines" | where tags has_cs "other"`:                           0,
		`Resources | where type == "microsoft.compute/virtualmachines" | where not(tags has_cs "other")`:                      1,
	} {
		found, err := s.query(ctx, query)
		g.Expect(err).NotTo(HaveOccurred(), query)
		g.Expect(found).To(HaveLen(want), query)
	}
	_, err = s.query(ctx, `Resources | summarize count()`)
	g.Expect(err).To(HaveCode("InvalidQuery"))
}

func TestListsMayBeStale(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	g.Expect(s.Faults.Add(simulator.Fault{Kind: simulator.Stale, By: time.Minute})).To(Succeed())
	g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "1", nil))).To(Succeed())
	const all = `Resources | where type == "microsoft.compute/virtualmachines"`
	g.Expect(s.query(ctx, all)).To(BeEmpty())
	s.Faults.Clear()
	g.Expect(s.query(ctx, all)).To(HaveLen(1))
}
