package sdktest

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/hetzner/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

const machineConfig = `machine: {nodeTaints: {karpenter.sh/unregistered: ":NoExecute"}}`

// newClient returns the cloud, and Hetzner's own client of it.
func newClient(t *testing.T) (*simulator.Base, simulator.Cloud, *hcloud.Client) {
	t.Helper()
	times := simulator.Times{
		Pending: 20 * time.Millisecond, Boot: time.Millisecond, Ending: 20 * time.Millisecond, Notice: time.Millisecond,
	}
	b := simulator.NewBase(t.Context(), &simulator.Cluster{}, times, 1)
	c, err := cloud.New(b)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	s := httptest.NewServer(b.Handler(c))
	t.Cleanup(s.Close)
	return b, c, hcloud.NewClient(hcloud.WithToken("token"), hcloud.WithEndpoint(s.URL+"/v1"),
		hcloud.WithRetryOpts(hcloud.RetryOpts{BackoffFunc: hcloud.ConstantBackoff(time.Millisecond), MaxRetries: 1}),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(5 * time.Millisecond)}))
}

// request returns a request such as the provider's.
func request(t *testing.T, client *hcloud.Client, name string) hcloud.ServerCreateOpts {
	t.Helper()
	images, err := client.Image.AllWithOpts(t.Context(), hcloud.ImageListOpts{
		ListOpts: hcloud.ListOpts{LabelSelector: "os=talos"},
		Type:     []hcloud.ImageType{hcloud.ImageTypeSnapshot}, Architecture: []hcloud.Architecture{hcloud.ArchitectureX86},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(images).To(HaveLen(1))
	return hcloud.ServerCreateOpts{
		Name: name, ServerType: &hcloud.ServerType{Name: "cx22"}, Image: images[0], Location: &hcloud.Location{Name: "nbg1"},
		Labels: map[string]string{"karpenter.sh/managed-by": "karpenter", "rev": "1"}, UserData: machineConfig,
		Networks: []*hcloud.Network{{ID: 1}}, Firewalls: []*hcloud.ServerCreateFirewall{{Firewall: hcloud.Firewall{ID: 2}}},
	}
}

func TestAServerLivesAsTheClientExpects(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, _, client := newClient(t)
	created, _, err := client.Server.Create(ctx, request(t, client, "n1"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(created.Server.Status).To(Equal(hcloud.ServerStatusInitializing))
	g.Expect(client.Action.WaitFor(ctx, append(created.NextActions, created.Action)...)).To(Succeed())

	s, _, err := client.Server.GetByID(ctx, created.Server.ID)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Status).To(Equal(hcloud.ServerStatusRunning))
	g.Expect(s.Location.Name).To(Equal("nbg1"))
	g.Expect(s.ServerType.Name).To(Equal("cx22"))
	g.Expect(s.PrivateNet[0].Network.ID).To(BeEquivalentTo(1))
	g.Expect(s.PublicNet.Firewalls[0].Firewall.ID).To(BeEquivalentTo(2))

	_, _, err = client.Server.DeleteWithResult(ctx, s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (*hcloud.Server, error) {
		s, _, err := client.Server.GetByID(ctx, s.ID)
		return s, err
	}).Should(BeNil())
	_, _, err = client.Server.DeleteWithResult(ctx, s)
	g.Expect(hcloud.IsError(err, hcloud.ErrorCodeNotFound)).To(BeTrue(), "%v", err)
}

func TestListsAreFilteredAndPaged(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, _, client := newClient(t)
	for _, name := range []string{"n1", "n2", "n3"} {
		_, _, err := client.Server.Create(ctx, request(t, client, name))
		g.Expect(err).NotTo(HaveOccurred())
	}
	opts := hcloud.ListOpts{PerPage: 2, LabelSelector: "karpenter.sh/managed-by=karpenter,rev=1"}
	g.Expect(client.Server.AllWithOpts(ctx, hcloud.ServerListOpts{ListOpts: opts})).To(HaveLen(3))
	opts.LabelSelector = "rev=2"
	g.Expect(client.Server.AllWithOpts(ctx, hcloud.ServerListOpts{ListOpts: opts})).To(BeEmpty())
	g.Expect(client.Server.AllWithOpts(ctx, hcloud.ServerListOpts{Name: "n2"})).To(HaveLen(1))
	g.Expect(client.ServerType.All(ctx)).To(HaveLen(18))
}

func TestErrorsHaveHetznersCodes(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	b, _, client := newClient(t)
	create := func(name string, change func(*hcloud.ServerCreateOpts)) error {
		o := request(t, client, name)
		change(&o)
		_, _, err := client.Server.Create(ctx, o)
		return err
	}
	asIs := func(*hcloud.ServerCreateOpts) {}
	g.Expect(create("n1", asIs)).To(Succeed())
	g.Expect(create("n1", asIs)).To(MatchError(ContainSubstring("uniqueness_error")))
	g.Expect(create("n2", func(o *hcloud.ServerCreateOpts) { o.ServerType.Name = "cax11" })).
		To(MatchError(ContainSubstring("invalid_input")), "an image of another architecture")

	group, _, err := client.PlacementGroup.Create(ctx, hcloud.PlacementGroupCreateOpts{Name: "g", Type: "spread"})
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = client.PlacementGroup.Create(ctx, hcloud.PlacementGroupCreateOpts{Name: "g", Type: "spread"})
	g.Expect(err).To(MatchError(ContainSubstring("uniqueness_error")))
	inGroup := func(o *hcloud.ServerCreateOpts) { o.PlacementGroup = group.PlacementGroup }
	for _, digit := range "0123456789" {
		g.Expect(create("g"+string(digit), inGroup)).To(Succeed())
	}
	g.Expect(create("g10", inGroup)).To(MatchError(ContainSubstring("placement_group_member_limit_reached")))

	g.Expect(b.Faults.Add(simulator.Fault{
		Kind: simulator.NoCapacity, Offering: simulator.Offering{Zone: "nbg1"}, Count: 1,
	})).To(Succeed())
	g.Expect(create("n3", asIs)).To(MatchError(ContainSubstring("resource_unavailable")))
	g.Expect(create("n3", asIs)).To(Succeed())
	g.Expect(b.Faults.Add(simulator.Fault{Kind: simulator.Throttle, Count: 2})).To(Succeed())
	_, err = client.ServerType.All(ctx)
	g.Expect(err).To(MatchError(ContainSubstring("rate_limit_exceeded")))
	g.Expect(b.Journal.Report().Unknown).To(BeEmpty())
}

func TestPublishedImagesAreNewer(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, c, client := newClient(t)
	_, err := c.Hooks["POST /_sim/images"](nil)
	g.Expect(err).NotTo(HaveOccurred())
	images, err := client.Image.AllWithOpts(ctx, hcloud.ImageListOpts{Architecture: []hcloud.Architecture{"arm"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(images).To(HaveLen(2))
	g.Expect(images[1].Created).To(BeTemporally(">", images[0].Created))
}
