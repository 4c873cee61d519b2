package sdktest

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/aws/wire"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// region is a simulated region with clients of the SDK.
type region struct {
	*cloud.Cloud
	*simulator.Base
	ec2    *ec2.Client
	config aws.Config // for the clients of other services
}

// The subnets of a region, one in each zone.
const (
	subnetA = "subnet-00000000000000001"
	subnetB = "subnet-00000000000000002"
	subnetC = "subnet-00000000000000003"
)

// never is longer than any test takes.
const never = time.Hour

// newRegion returns a region whose instances stay pending, and then shutting down.
func newRegion(t *testing.T) *region {
	t.Helper()
	r := &region{Base: simulator.NewBase(t.Context(), nil, simulator.Times{Pending: never, Ending: never}, 0)}
	var err error
	r.Cloud, err = cloud.New(r.Base, cloud.Settings{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(wire.New(r.Base, r.Cloud, wire.Cluster{
		Name: "plumbline", Endpoint: "https://127.0.0.1:6443", Version: "1.36",
		CIDR: "10.0.0.0/16",
	}, "queue"))
	t.Cleanup(server.Close)

	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	r.config, err = config.LoadDefaultConfig(t.Context(),
		config.WithRegion("us-east-1"), config.WithBaseEndpoint(server.URL),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("simulated", "simulated", "")),
		config.WithRetryer(func() aws.Retryer { // the SDK's default with a shorter backoff
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 10 * time.Millisecond })
		}))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	r.ec2 = ec2.NewFromConfig(r.config)
	return r
}

// code returns AWS's code of an error.
func code(err error) string {
	if e, is := errors.AsType[smithy.APIError](err); is {
		return e.ErrorCode()
	}
	return ""
}

// HaveCode matches errors by AWS's code.
func HaveCode(want string) OmegaMatcher { return WithTransform(code, Equal(want)) }

// BeA matches errors of one of the SDK's types.
func BeA[T error]() OmegaMatcher {
	return WithTransform(func(err error) bool { _, is := errors.AsType[T](err); return is }, BeTrue())
}

// paginator is the interface of the SDK's paginators.
type paginator[Output, Options any] interface {
	HasMorePages() bool
	NextPage(ctx context.Context, options ...func(*Options)) (*Output, error)
}

// collect returns a paginator's items and the number of its pages.
func collect[Output, Options, Item any](t *testing.T, p paginator[Output, Options],
	items func(*Output) []Item,
) (found []Item, pages int) {
	t.Helper()
	for ; p.HasMorePages(); pages++ {
		out, err := p.NextPage(t.Context())
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		found = append(found, items(out)...)
	}
	return found, pages
}

// each returns the results of a function for all elements.
func each[From, To any](all []From, f func(From) To) []To {
	some := make([]To, 0, len(all))
	for _, x := range all {
		some = append(some, f(x))
	}
	return some
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

func ec2Tags(pairs ...string) (tags []types.Tag) {
	for n := 0; n < len(pairs); n += 2 {
		tags = append(tags, types.Tag{Key: aws.String(pairs[n]), Value: aws.String(pairs[n+1])})
	}
	return tags
}

func keyed(tags []types.Tag) map[string]string {
	m := map[string]string{}
	for _, t := range tags {
		m[*t.Key] = *t.Value
	}
	return m
}

// parameter returns the path under which EKS publishes the ID of an image.
func parameter(arch, variant, release string) string {
	return "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/" + arch + "/" + variant + "/" + release + "/image_id"
}

// template creates a launch template named after its architecture and returns its image's ID.
func (r *region) template(t *testing.T, arch string) (imageID string) {
	t.Helper()
	imageID, err := r.Parameter(parameter(arch, "standard", "recommended"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	_, err = r.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(arch),
		LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId:          aws.String(imageID),
			SecurityGroupIds: []string{"sg-00000000000000001"},
		},
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return imageID
}

func override(instanceType types.InstanceType, subnet string) types.FleetLaunchTemplateOverridesRequest {
	return types.FleetLaunchTemplateOverridesRequest{InstanceType: instanceType, SubnetId: aws.String(subnet)}
}

func choice(template string,
	overrides ...types.FleetLaunchTemplateOverridesRequest,
) types.FleetLaunchTemplateConfigRequest {
	return types.FleetLaunchTemplateConfigRequest{
		LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{
			LaunchTemplateName: aws.String(template),
			Version:            aws.String("$Latest"),
		},
		Overrides: overrides,
	}
}

// fleet returns a request for instances like Karpenter's.
func fleet(capacity types.DefaultTargetCapacityType, count int32,
	choices ...types.FleetLaunchTemplateConfigRequest,
) *ec2.CreateFleetInput {
	return &ec2.CreateFleetInput{
		Type:                  types.FleetTypeInstant,
		LaunchTemplateConfigs: choices,
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: capacity,
			TotalTargetCapacity:       aws.Int32(count),
		},
	}
}

// launch creates a fleet of instances with tags and returns their IDs.
func (r *region) launch(t *testing.T, in *ec2.CreateFleetInput, tags ...string) (ids []string) {
	t.Helper()
	if len(tags) > 0 {
		in.TagSpecifications = []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: ec2Tags(tags...)},
			{ResourceType: types.ResourceTypeVolume, Tags: ec2Tags("of", "volumes")},
		}
	}
	out, err := r.ec2.CreateFleet(t.Context(), in)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, i := range out.Instances {
		ids = append(ids, i.InstanceIds...)
	}
	return ids
}

// running launches instances as launch does, and waits until they run.
func (r *region) running(t *testing.T, in *ec2.CreateFleetInput, tags ...string) (ids []string) {
	t.Helper()
	before := r.Times
	r.Times.Pending = 0
	ids = r.launch(t, in, tags...)
	r.Times = before
	for _, id := range ids {
		state := func() simulator.State { _, s, _ := r.Fleet().Get(id); return s }
		NewWithT(t).Eventually(state).Should(Equal(simulator.Running))
	}
	return ids
}

// instance returns the instance of an ID.
func (r *region) instance(t *testing.T, id string) *cloud.Instance {
	t.Helper()
	i, err := r.Fleet().Find(id)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return i
}

// list returns the IDs of the instances that match.
func (r *region) list(t *testing.T, in *ec2.DescribeInstancesInput) (ids []string) {
	t.Helper()
	found, _ := collect(t, ec2.NewDescribeInstancesPaginator(r.ec2, in), instancesOf)
	return each(found, func(i types.Instance) string { return *i.InstanceId })
}

func instancesOf(out *ec2.DescribeInstancesOutput) (all []types.Instance) {
	for _, r := range out.Reservations {
		all = append(all, r.Instances...)
	}
	return all
}
