package sdktest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

const (
	onDemand = types.DefaultTargetCapacityTypeOnDemand
	spot     = types.DefaultTargetCapacityTypeSpot
)

func TestFleetChooses(t *testing.T) {
	prioritized := func(o types.FleetLaunchTemplateOverridesRequest,
		priority float64,
	) types.FleetLaunchTemplateOverridesRequest {
		o.Priority = aws.Float64(priority)
		return o
	}
	choices := []types.FleetLaunchTemplateConfigRequest{
		choice("x86_64", prioritized(override("m5.large", subnetA), 2), prioritized(override("m5d.large", subnetB), 1)),
		choice("arm64", prioritized(override("c6g.large", subnetC), 3)),
	}
	for name, c := range map[string]struct {
		capacity types.DefaultTargetCapacityType
		onDemand *types.OnDemandOptionsRequest
		spot     *types.SpotOptionsRequest
		want     int // index of the choice; override is the index in it
		override int
	}{
		"on demand, lowest price": {onDemand, &types.OnDemandOptionsRequest{AllocationStrategy: "lowest-price"}, nil, 1, 0},
		"on demand, prioritized":  {onDemand, &types.OnDemandOptionsRequest{AllocationStrategy: "prioritized"}, nil, 0, 1},
		"spot, price": {
			spot, nil,
			&types.SpotOptionsRequest{AllocationStrategy: "price-capacity-optimized"}, 1, 0,
		},
		"spot, prioritized": {
			spot, nil,
			&types.SpotOptionsRequest{AllocationStrategy: "capacity-optimized-prioritized"}, 0, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			r.template(t, "x86_64")
			r.template(t, "arm64")
			in := fleet(c.capacity, 2, choices...)
			in.OnDemandOptions, in.SpotOptions, in.Context = c.onDemand, c.spot, aws.String("context")
			out, err := r.ec2.CreateFleet(t.Context(), in)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(*out.FleetId).To(HavePrefix("fleet-"))
			g.Expect(out.Errors).To(BeEmpty())
			g.Expect(out.Instances).To(HaveLen(1))

			template, wanted := choices[c.want].LaunchTemplateSpecification, choices[c.want].Overrides[c.override]
			i := out.Instances[0]
			g.Expect(i.InstanceIds).To(HaveLen(2))
			g.Expect(i.InstanceType).To(Equal(wanted.InstanceType))
			g.Expect(string(i.Lifecycle)).To(Equal(string(c.capacity)))
			g.Expect(i.LaunchTemplateAndOverrides.LaunchTemplateSpecification.LaunchTemplateName).
				To(Equal(template.LaunchTemplateName))
			g.Expect(*i.LaunchTemplateAndOverrides.LaunchTemplateSpecification.LaunchTemplateId).To(HavePrefix("lt-"))
			g.Expect(*i.LaunchTemplateAndOverrides.Overrides.AvailabilityZone).To(HavePrefix("us-east-1"))
			g.Expect(i.LaunchTemplateAndOverrides.Overrides.SubnetId).To(Equal(wanted.SubnetId))
			g.Expect(i.LaunchTemplateAndOverrides.Overrides.Priority).To(Equal(wanted.Priority))
		})
	}
}

func TestFleetErrors(t *testing.T) {
	with := func(o types.FleetLaunchTemplateOverridesRequest, image string) types.FleetLaunchTemplateOverridesRequest {
		o.ImageId = aws.String(image)
		return o
	}
	for name, c := range map[string]struct {
		override types.FleetLaunchTemplateOverridesRequest
		code     string
	}{
		"no capacity":        {override("c5.large", subnetB), "InsufficientInstanceCapacity"},
		"no such type":       {override("c5.huge", subnetA), "InvalidParameterValue"},
		"no such subnet":     {override("c5.large", "subnet-1"), "InvalidSubnetID.NotFound"},
		"no such image":      {with(override("c5.large", subnetA), "ami-1"), "InvalidAMIID.NotFound"},
		"other architecture": {override("c6g.large", subnetA), "InvalidParameterValue"},
		"not in the zone":    {override("g5.xlarge", subnetC), "InvalidFleetConfiguration"},
	} {
		t.Run(name, func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			r.template(t, "x86_64")
			scarce := simulator.Offering{Type: "c5.large", Zone: "us-east-1b", CapacityType: cloud.Spot}
			g.Expect(r.Faults.Add(simulator.Fault{Kind: simulator.NoCapacity, Offering: scarce})).To(Succeed())
			out, err := r.ec2.CreateFleet(t.Context(), fleet(spot, 1, choice("x86_64", c.override)))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out.Instances).To(BeEmpty())
			g.Expect(out.Errors).To(HaveLen(1))
			e := out.Errors[0]
			g.Expect(*e.ErrorCode).To(Equal(c.code))
			g.Expect(*e.ErrorMessage).NotTo(BeEmpty())
			g.Expect(e.Lifecycle).To(Equal(types.InstanceLifecycleSpot))
			g.Expect(*e.LaunchTemplateAndOverrides.LaunchTemplateSpecification.LaunchTemplateName).To(Equal("x86_64"))
			g.Expect(*e.LaunchTemplateAndOverrides.LaunchTemplateSpecification.Version).To(Equal("1"))
			g.Expect(e.LaunchTemplateAndOverrides.Overrides.InstanceType).To(Equal(c.override.InstanceType))
			g.Expect(e.LaunchTemplateAndOverrides.Overrides.SubnetId).To(Equal(c.override.SubnetId))

			in := fleet(onDemand, 1, choice("x86_64", c.override, override("m5.large", subnetC)))
			g.Expect(r.launch(t, in)).To(HaveLen(1), "another choice is there, or the fault doesn't hit on demand")
		})
	}
}

func TestFleetRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(in *ec2.CreateFleetInput, data *types.RequestLaunchTemplateData)
		code  string
	}{
		"no such template": {func(in *ec2.CreateFleetInput, _ *types.RequestLaunchTemplateData) {
			in.LaunchTemplateConfigs = append(in.LaunchTemplateConfigs, choice("other", override("c5.large", subnetA)))
		}, "InvalidLaunchTemplateName.NotFoundException"},
		"no template of that id": {func(in *ec2.CreateFleetInput, _ *types.RequestLaunchTemplateData) {
			in.LaunchTemplateConfigs[0].LaunchTemplateSpecification = &types.FleetLaunchTemplateSpecificationRequest{
				LaunchTemplateId: aws.String("lt-1"),
			}
		}, "InvalidLaunchTemplateId.NotFound"},
		"no overrides": {func(in *ec2.CreateFleetInput, _ *types.RequestLaunchTemplateData) {
			in.LaunchTemplateConfigs[0].Overrides = nil
		}, "InvalidParameterCombination"},
		"not instant": {func(in *ec2.CreateFleetInput, _ *types.RequestLaunchTemplateData) {
			in.Type = types.FleetTypeMaintain
		}, "InvalidParameterValue"},
		"no such profile": {func(_ *ec2.CreateFleetInput, data *types.RequestLaunchTemplateData) {
			data.IamInstanceProfile = &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("none")}
		}, "InvalidParameterValue"},
		"no such group": {func(_ *ec2.CreateFleetInput, data *types.RequestLaunchTemplateData) {
			data.NetworkInterfaces = []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
				{Groups: []string{"sg-1"}},
			}
		}, "InvalidGroup.NotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			data := &types.RequestLaunchTemplateData{ImageId: aws.String(r.template(t, "x86_64"))}
			in := fleet(spot, 1, choice("spoilt", override("c5.large", subnetA)))
			c.spoil(in, data)
			_, err := r.ec2.CreateLaunchTemplate(t.Context(),
				&ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("spoilt"), LaunchTemplateData: data})
			g.Expect(err).NotTo(HaveOccurred())
			_, err = r.ec2.CreateFleet(t.Context(), in)
			g.Expect(err).To(HaveCode(c.code))
			g.Expect(r.list(t, &ec2.DescribeInstancesInput{})).To(BeEmpty())
		})
	}
}

func TestFleetInPart(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	g.Expect(r.launch(t, fleet(onDemand, 4090, choice("x86_64", override("c5.large", subnetA))))).To(HaveLen(4090))

	// One of the subnet's 4091 addresses is left.
	out, err := r.ec2.CreateFleet(t.Context(),
		fleet(onDemand, 3, choice("x86_64", override("c5.large", subnetA), override("m5.large", subnetB))))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(each(out.Instances, func(i types.CreateFleetInstance) int {
		return len(i.InstanceIds)
	})).To(Equal([]int{1, 2}))
	g.Expect(each(out.Instances, func(i types.CreateFleetInstance) types.InstanceType {
		return i.InstanceType
	})).To(Equal([]types.InstanceType{"c5.large", "m5.large"}))
	g.Expect(out.Errors).To(HaveLen(1))
	g.Expect(*out.Errors[0].ErrorCode).To(Equal("InsufficientFreeAddressesInSubnet"))

	subnets, err := r.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(each(subnets.Subnets, func(s types.Subnet) int32 {
		return *s.AvailableIpAddressCount
	})).To(Equal([]int32{0, 4089, 4091}))
}

func TestFleetTokens(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	in := fleet(spot, 1, choice("x86_64", override("c5.large", subnetA)))
	in.ClientToken = aws.String("same")
	first := r.launch(t, in)
	g.Expect(r.launch(t, in)).To(Equal(first))
	in.ClientToken = nil // the SDK makes one
	g.Expect(r.launch(t, in)).NotTo(Equal(first))
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{})).To(HaveLen(2))
}
