package sdktest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v9"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// agentPools is a client of agent pools of a simulated subscription.
type agentPools struct {
	*subscription
	*armcontainerservice.AgentPoolsClient
}

func newAgentPools(t *testing.T) agentPools {
	t.Helper()
	s := newSubscription(t)
	client, err := armcontainerservice.NewAgentPoolsClient(id, anybody{}, s.options)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return agentPools{s, client}
}

func agentPool(size string) armcontainerservice.AgentPool {
	return armcontainerservice.AgentPool{Properties: &armcontainerservice.ManagedClusterAgentPoolProfileProperties{
		Type: new(armcontainerservice.AgentPoolTypeVirtualMachineScaleSets), Count: new(int32(1)), VMSize: &size,
		NodeLabels: map[string]*string{"kaito.sh/workspace": new("w")}, NodeTaints: []*string{new("sku=gpu:NoSchedule")},
	}}
}

// create creates an agent pool and follows its creation.
func (p agentPools) create(ctx context.Context, name string) (*armcontainerservice.AgentPool, error) {
	creation, err := p.BeginCreateOrUpdate(ctx, aksGroup, aks, name, agentPool("Standard_D4s_v5"), nil)
	if err != nil {
		return nil, err
	}
	created, err := creation.PollUntilDone(ctx, quickly())
	return &created.AgentPool, err
}

// names returns the names of the agent pools that are listed.
func (p agentPools) names(ctx context.Context) (all []string, err error) {
	page, err := p.NewListPager(aksGroup, aks, nil).NextPage(ctx)
	for _, one := range page.Value {
		all = append(all, *one.Name)
	}
	return all, err
}

func TestAnAgentPoolLivesAndEndsWithItsVirtualMachine(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	_, err := p.Get(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).To(MatchError(ContainSubstring("Agent Pool not found")))
	created, err := p.create(ctx, "a")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*created.ID).To(HaveSuffix("/managedClusters/aks/agentPools/a"))
	g.Expect(*created.Properties.ProvisioningState).To(Equal("Succeeded"))
	g.Expect(*created.Properties.PowerState.Code).To(Equal(armcontainerservice.CodeRunning))
	g.Expect(*created.Properties.NodeImageVersion).To(HavePrefix("AKSUbuntu-"))
	g.Expect(created.Properties.NodeLabels).To(HaveKey("kaito.sh/workspace"))
	g.Expect(p.names(ctx)).To(ConsistOf("a", pool))
	g.Expect(p.hook(t, http.MethodGet, "/_sim/instances")).
		To(ContainSubstring("/virtualMachineScaleSets/aks-a-12345678-vmss/virtualMachines/0"))

	changed, err := p.create(ctx, "a")
	g.Expect(err).NotTo(HaveOccurred(), "it is there already")
	g.Expect(changed.ID).To(Equal(created.ID))

	deletion, err := p.BeginDelete(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	leaving, err := p.Get(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*leaving.Properties.ProvisioningState).To(Equal("Deleting"))
	_, err = deletion.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = p.Get(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).To(HaveCode("NotFound"))
	_, err = p.BeginDelete(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).NotTo(HaveOccurred(), "there is nothing to delete")
}

func TestMistakesInAgentPools(t *testing.T) {
	ctx, p := t.Context(), newAgentPools(t)
	two := agentPool("Standard_D4s_v5")
	two.Properties.Count = new(int32(2))
	for want, wrong := range map[string]armcontainerservice.AgentPool{
		"VMSizeNotSupported": agentPool("Standard_Z1"), "InvalidParameter": two,
	} {
		_, err := p.BeginCreateOrUpdate(ctx, aksGroup, aks, "a", wrong, nil)
		NewWithT(t).Expect(err).To(HaveCode(want))
	}
}

func TestAnAgentPoolIsNotChangedMeanwhile(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	begin := func() error {
		_, err := p.BeginCreateOrUpdate(ctx, aksGroup, aks, "a", agentPool("Standard_D4s_v5"), nil)
		return err
	}
	p.Times.Pending = time.Hour
	g.Expect(begin()).To(Succeed())
	g.Expect(begin()).To(MatchError(ContainSubstring("there's an in progress create node pool operation")))
	_, err := p.BeginDelete(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(begin()).To(MatchError(ContainSubstring("there's an in progress delete node pool operation")))
}

func TestAnAgentPoolFailsLaterWithoutCapacity(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	g.Expect(p.Faults.Add(simulator.Fault{
		Kind: simulator.NoCapacity, Offering: simulator.Offering{Type: "Standard_D4s_v5"},
	})).To(Succeed())
	_, err := p.create(ctx, "a")
	g.Expect(err).To(HaveCode("AllocationFailed"))
	failed, err := p.Get(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*failed.Properties.ProvisioningState).To(Equal("Failed"))
	g.Expect(*failed.Properties.Status.ProvisioningError.Code).To(Equal("AllocationFailed"))

	p.Faults.Clear()
	again, err := p.create(ctx, "a")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*again.Properties.ProvisioningState).To(Equal("Succeeded"))
}

func TestAFailedAgentPoolIsDeleted(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	g.Expect(p.Faults.Add(simulator.Fault{Kind: simulator.NoCapacity})).To(Succeed())
	_, err := p.create(ctx, "a")
	g.Expect(err).To(HaveCode("AllocationFailed"))
	deletion, err := p.BeginDelete(ctx, aksGroup, aks, "a", nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = deletion.PollUntilDone(ctx, quickly())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.names(ctx)).To(ConsistOf(pool))
}

func TestListsOfAgentPoolsMayBeStale(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	g.Expect(p.Faults.Add(simulator.Fault{Kind: simulator.Stale, By: time.Minute})).To(Succeed())
	_, err := p.create(ctx, "a")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.names(ctx)).To(BeEmpty())
	p.Faults.Clear()
	g.Expect(p.names(ctx)).To(ConsistOf("a", pool))
}

// After a lost answer, the SDK asks again, and Azure refuses to begin twice.
func TestAnAgentPoolIsThereAlthoughTheAnswerWasLost(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	p.Times.Pending = time.Hour
	g.Expect(p.Faults.Add(simulator.Fault{
		Kind: simulator.Lost, Count: 1, Call: "PUT microsoft.containerservice/managedclusters/agentpools/*",
	})).To(Succeed())
	_, err := p.create(ctx, "a")
	g.Expect(err).To(HaveCode("OperationNotAllowed"))
	g.Expect(p.names(ctx)).To(ConsistOf("a", pool))
}

// The copy is another agent pool of the same labels, whose name AKS accepts.
func TestALeakedAgentPoolIsListed(t *testing.T) {
	g, ctx, p := NewWithT(t), t.Context(), newAgentPools(t)
	_, err := p.create(ctx, "a")
	g.Expect(err).NotTo(HaveOccurred())
	p.hook(t, http.MethodPost, "/_sim/instances/leak")
	g.Expect(p.names(ctx)).To(ConsistOf("a", pool, MatchRegexp("^l[a-z0-9]{11}$")))
	g.Expect(p.hook(t, http.MethodGet, "/_sim/instances")).
		To(MatchRegexp("aks-a-12345678-vmss/virtualMachines/0.*aks-l[a-z0-9]{11}-12345678-vmss/virtualMachines/0"))
}
