package sdktest

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// hook sends a request of the harness.
func (s *subscription) hook(t *testing.T, method, path string) (answered string) {
	t.Helper()
	g := NewWithT(t)
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+s.address+path, http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	answer, err := s.client.Do(r)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	g.Expect(answer.StatusCode).To(BeNumerically("<", 300))
	text, err := io.ReadAll(answer.Body)
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func TestSizes(t *testing.T) {
	g, s := NewWithT(t), newSubscription(t)
	client, err := armcompute.NewResourceSKUsClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	page, err := client.NewListPager(nil).NextPage(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(page.Value)).To(BeNumerically(">", 30))
	for _, sku := range page.Value {
		g.Expect(sku.Capabilities).To(ContainElement(HaveField("Name", HaveValue(Equal("vCPUs")))))
		g.Expect(sku.LocationInfo[0].Zones).To(HaveLen(3))
		g.Expect(*sku.Family).To(HaveSuffix("Family"))
	}
}

func TestQuotasReachTheirLimits(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	const quota = "standardDSv5Family"
	s.hook(t, http.MethodPut, "/_sim/quotas?quota="+quota+"&cpus=6")
	g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "1", nil))).To(Succeed())
	client, err := armcompute.NewUsageClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	page, err := client.NewListPager(region, nil).NextPage(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(page.Value).To(ContainElement(And(
		HaveField("Name.Value", HaveValue(Equal(quota))),
		HaveField("Limit", HaveValue(BeEquivalentTo(6))), HaveField("CurrentValue", HaveValue(BeEquivalentTo(4))),
	)))
	err = s.launch(ctx, "aks-b", machine("Standard_D4s_v5", "1", nil))
	g.Expect(err).To(HaveCode("OperationNotAllowed"))
	g.Expect(err).To(MatchError(And(ContainSubstring("Family Cores quota"), ContainSubstring("Current Limit: 6"))))
	spot := machine("Standard_D4s_v5", "1", nil)
	spot.Properties.Priority = new(armcompute.VirtualMachinePriorityTypesSpot)
	g.Expect(s.launch(ctx, "aks-b", spot)).To(Succeed(), "spot has a quota of its own")
	s.hook(t, http.MethodPost, "/_sim/reset")
	g.Expect(s.launch(ctx, "aks-c", machine("Standard_D4s_v5", "1", nil))).To(Succeed())
}

func TestCodesSayWhichCapacityLacks(t *testing.T) {
	for want, o := range map[string]simulator.Offering{
		"AllocationFailed":                      {},
		"ZonalAllocationFailed":                 {Zone: region + "-1"},
		"OverconstrainedAllocationRequest":      {CapacityType: "on-demand"},
		"OverconstrainedZonalAllocationRequest": {Zone: region + "-1", CapacityType: "on-demand"},
	} {
		g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
		g.Expect(s.Faults.Add(simulator.Fault{Kind: simulator.NoCapacity, Offering: o, Count: 1})).To(Succeed())
		g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "1", nil))).To(HaveCode(want))
		g.Expect(s.launch(ctx, "aks-a", machine("Standard_D4s_v5", "1", nil))).To(Succeed())
	}
}

func TestImagesAreReleased(t *testing.T) {
	g, s := NewWithT(t), newSubscription(t)
	client, err := armcompute.NewCommunityGalleryImageVersionsClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	s.hook(t, http.MethodPost, "/_sim/images")
	page, err := client.NewListPager(region, "AKSUbuntu", "2204gen2containerd", nil).NextPage(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(page.Value).To(HaveLen(2))
	g.Expect(*page.Value[1].Name).To(Equal("202606.02.0"))
	g.Expect(*page.Value[1].Properties.PublishedDate).To(BeTemporally(">", *page.Value[0].Properties.PublishedDate))
}

func TestTheNetwork(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	subnets, err := armnetwork.NewSubnetsClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = subnets.Get(ctx, "net", "net", "nodes", nil)
	g.Expect(err).NotTo(HaveOccurred())
	networks, err := armnetwork.NewVirtualNetworksClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	network, err := networks.Get(ctx, "net", "net", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(network.Properties.ResourceGUID).NotTo(BeNil())
	balancers, err := armnetwork.NewLoadBalancersClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	page, err := balancers.NewListPager(group, nil).NextPage(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(page.Value[0].Properties.BackendAddressPools).To(HaveLen(2))
	security, err := armnetwork.NewSecurityGroupsClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	groups, err := security.NewListPager(group, nil).NextPage(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*groups.Value[0].Name).To(MatchRegexp(`^aks-agentpool-\d{8}-nsg$`))

	s.hook(t, http.MethodDelete, net+"/subnets/nodes")
	_, err = subnets.Get(ctx, "net", "net", "nodes", nil)
	g.Expect(err).To(HaveCode("ResourceNotFound"))
	s.hook(t, http.MethodPost, "/_sim/reset")
	_, err = subnets.Get(ctx, "net", "net", "nodes", nil)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestTheSDKTriesAgainWhenThrottled(t *testing.T) {
	g, ctx, s := NewWithT(t), t.Context(), newSubscription(t)
	g.Expect(s.Faults.Add(simulator.Fault{Kind: simulator.Denied, Count: 1})).To(Succeed())
	_, err := s.nics.Get(ctx, group, "aks-a", nil)
	g.Expect(err).To(HaveCode("AuthorizationFailed"))
	g.Expect(s.Faults.Add(simulator.Fault{Kind: simulator.Throttle, Count: 1})).To(Succeed())
	_, err = s.nics.Get(ctx, group, "aks-a", nil)
	g.Expect(err).To(HaveCode("ResourceNotFound"), "the second call is answered")
	g.Expect(s.Journal.Report().Calls).To(HaveKeyWithValue("GET microsoft.network/networkinterfaces/*", 3))
}

func TestUnknownCallsAreCounted(t *testing.T) {
	g, s := NewWithT(t), newSubscription(t)
	client, err := armcompute.NewDisksClient(id, anybody{}, s.options)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.Get(t.Context(), group, "d", nil)
	g.Expect(err).To(HaveCode("InvalidResourceType"))
	g.Expect(s.Journal.Unknown()).To(Equal([]string{"GET microsoft.compute/disks/*"}))
}

func TestAManagedIdentityGetsAToken(t *testing.T) {
	g, s := NewWithT(t), newSubscription(t)
	t.Setenv("IDENTITY_ENDPOINT", "https://"+s.address+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "simulated")
	credential, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{
		ClientOptions: s.options.ClientOptions,
	})
	g.Expect(err).NotTo(HaveOccurred())
	token, err := credential.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{"https://x/.default"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(token.ExpiresOn).To(BeTemporally(">", time.Now().Add(365*24*time.Hour)))
}
