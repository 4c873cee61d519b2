package sdktest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

func TestSubnets(t *testing.T) {
	r := newRegion(t)
	for name, c := range map[string]struct {
		in   ec2.DescribeSubnetsInput
		want []string
		code string
	}{
		"all": {ec2.DescribeSubnetsInput{}, []string{subnetA, subnetB, subnetC}, ""},
		"ids": {ec2.DescribeSubnetsInput{SubnetIds: []string{subnetC, subnetA}}, []string{subnetC, subnetA}, ""},
		"id filter": {
			ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("subnet-id", subnetB)}},
			[]string{subnetB},
			"",
		},
		"tag": {
			ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("tag:"+cloud.Discovery, "plumbline")}},
			[]string{subnetA, subnetB, subnetC},
			"",
		},
		"other tag": {ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("tag:"+cloud.Discovery, "other")}}, nil, ""},
		"tag key": {
			ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("tag-key", cloud.Discovery)}},
			[]string{subnetA, subnetB, subnetC},
			"",
		},
		"zone": {
			ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("availability-zone", "us-east-1c")}},
			[]string{subnetC},
			"",
		},
		"pages":      {ec2.DescribeSubnetsInput{MaxResults: aws.Int32(1)}, []string{subnetA, subnetB, subnetC}, ""},
		"unknown id": {ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-1"}}, nil, "InvalidSubnetID.NotFound"},
		"wrong filter": {
			ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("colour", "red")}},
			nil,
			"InvalidParameterValue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if c.code != "" {
				_, err := r.ec2.DescribeSubnets(t.Context(), &c.in)
				g.Expect(err).To(HaveCode(c.code))
				return
			}
			found, _ := collect(t, ec2.NewDescribeSubnetsPaginator(r.ec2, &c.in),
				func(o *ec2.DescribeSubnetsOutput) []types.Subnet { return o.Subnets })
			g.Expect(each(found, func(s types.Subnet) string {
				return *s.SubnetId
			})).To(HaveExactElements(each(c.want, func(s string) any { return s })...))
		})
	}
	g := NewWithT(t)
	out, err := r.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: []string{subnetB}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Subnets).To(Equal([]types.Subnet{{
		SubnetId: aws.String(subnetB), State: types.SubnetStateAvailable, VpcId: aws.String(r.VPC()),
		AvailableIpAddressCount: aws.Int32(4091),
		AvailabilityZone:        aws.String("us-east-1b"), AvailabilityZoneId: aws.String("use1-az2"),
		MapPublicIpOnLaunch: aws.Bool(false),
		Tags:                ec2Tags(cloud.Discovery, "plumbline"),
	}}))
}

func TestSecurityGroups(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.SetGroups(3)
	found, pages := collect(t, ec2.NewDescribeSecurityGroupsPaginator(r.ec2, &ec2.DescribeSecurityGroupsInput{
		Filters: []types.Filter{filter("tag:"+cloud.Discovery, "plumb*")}, MaxResults: aws.Int32(2),
	}), func(o *ec2.DescribeSecurityGroupsOutput) []types.SecurityGroup { return o.SecurityGroups })
	g.Expect(pages).To(Equal(2))
	g.Expect(each(found, func(s types.SecurityGroup) string {
		return *s.GroupName
	})).To(Equal([]string{"nodes-1", "nodes-2", "nodes-3"}))
	g.Expect(found[1]).To(Equal(types.SecurityGroup{
		GroupId: aws.String("sg-00000000000000002"), GroupName: aws.String("nodes-2"), VpcId: aws.String(r.VPC()),
		Tags: ec2Tags(cloud.Discovery, "plumbline"),
	}))

	_, err := r.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{GroupIds: []string{"sg-1"}})
	g.Expect(err).To(HaveCode("InvalidGroup.NotFound"))
}

func TestImages(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	x86, err := r.Parameter(parameter("x86_64", "standard", "recommended"))
	g.Expect(err).NotTo(HaveOccurred())
	arm, err := r.Parameter(parameter("arm64", "standard", "recommended"))
	g.Expect(err).NotTo(HaveOccurred())

	list := func(in *ec2.DescribeImagesInput) []types.Image {
		found, _ := collect(t, ec2.NewDescribeImagesPaginator(r.ec2, in), func(o *ec2.DescribeImagesOutput) []types.Image {
			return o.Images
		})
		return found
	}
	found := list(&ec2.DescribeImagesInput{
		Owners:  []string{"self", "amazon"},
		Filters: []types.Filter{filter("image-id", x86)},
	})
	g.Expect(found).To(HaveLen(1))
	g.Expect(*found[0].Name).To(HavePrefix("amazon-eks-node-al2023-x86_64-standard-1.36-v"))
	_, err = time.Parse(time.RFC3339, *found[0].CreationDate)
	g.Expect(err).NotTo(HaveOccurred())
	found[0].Name, found[0].CreationDate = nil, nil
	g.Expect(found[0]).To(Equal(types.Image{
		ImageId: aws.String(x86), State: types.ImageStateAvailable, Architecture: types.ArchitectureValuesX8664,
		VirtualizationType: types.VirtualizationTypeHvm, ImageOwnerAlias: aws.String("amazon"),
	}))

	for _, in := range []ec2.DescribeImagesInput{
		{ImageIds: []string{arm}},
		{Filters: []types.Filter{filter("architecture", "arm64")}},
		{Filters: []types.Filter{filter("name", "amazon-eks-node-al2023-arm64-*")}, MaxResults: aws.Int32(1)},
	} {
		g.Expect(each(list(&in), func(i types.Image) string { return *i.ImageId })).To(Equal([]string{arm}))
	}
	_, err = r.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{ImageIds: []string{"ami-1"}})
	g.Expect(err).To(HaveCode("InvalidAMIID.NotFound"))
}

func TestNoReservations(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	reservations, err := r.ec2.DescribeCapacityReservations(t.Context(),
		&ec2.DescribeCapacityReservationsInput{Filters: []types.Filter{filter("state", "active")}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reservations.CapacityReservations).To(BeEmpty())
	_, err = r.ec2.DescribeCapacityReservations(t.Context(),
		&ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{"cr-1"}})
	g.Expect(err).To(HaveCode("InvalidCapacityReservationId.NotFound"))
	groups, err := r.ec2.DescribePlacementGroups(t.Context(),
		&ec2.DescribePlacementGroupsInput{Filters: []types.Filter{filter("state", "available")}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(groups.PlacementGroups).To(BeEmpty())
}
