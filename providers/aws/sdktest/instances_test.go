package sdktest

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func TestInstances(t *testing.T) {
	for name, c := range map[string]struct {
		capacity types.DefaultTargetCapacityType
		cycle    types.InstanceLifecycleType
	}{
		"spot":      {spot, types.InstanceLifecycleTypeSpot},
		"on demand": {onDemand, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, r := NewWithT(t), newRegion(t)
			image := r.template(t, "x86_64")
			id := r.launch(t, fleet(c.capacity, 1, choice("x86_64", override("c5.large", subnetB))), "Name", "a & <b>",
				"karpenter.sh/nodepool", "")[0]
			out, err := r.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(*out.Reservations[0].OwnerId).To(Equal(r.Account()))
			i := out.Reservations[0].Instances[0]
			g.Expect(*i.LaunchTime).To(BeTemporally("~", time.Now(), 5*time.Second))
			g.Expect(i.SpotInstanceRequestId != nil).To(Equal(c.capacity == spot))
			g.Expect(keyed(i.Tags)).To(Equal(map[string]string{"Name": "a & <b>", "karpenter.sh/nodepool": ""}))
			i.LaunchTime, i.SpotInstanceRequestId, i.Tags = nil, nil, nil
			g.Expect(i).To(Equal(types.Instance{
				InstanceId: aws.String(id), InstanceType: "c5.large", ImageId: aws.String(image),
				Architecture: types.ArchitectureValuesX8664,
				State:        &types.InstanceState{Code: aws.Int32(0), Name: types.InstanceStateNamePending},
				Placement: &types.Placement{
					AvailabilityZone: aws.String("us-east-1b"), AvailabilityZoneId: aws.String("use1-az2"),
					Tenancy: types.TenancyDefault,
				},
				SubnetId: aws.String(subnetB), VpcId: aws.String(r.VPC()), PrivateIpAddress: aws.String("10.0.0.1"),
				PrivateDnsName:    aws.String("ip-10-0-0-1.ec2.internal"),
				SecurityGroups:    []types.GroupIdentifier{{GroupId: aws.String("sg-00000000000000001")}},
				InstanceLifecycle: c.cycle,
			}))
		})
	}
}

func TestInstancesMatching(t *testing.T) {
	r := newRegion(t)
	r.template(t, "x86_64")
	a := r.running(t, fleet(spot, 1, choice("x86_64", override("c5.large", subnetA))), "cluster", "one", "claim", "a")[0]
	b := r.launch(t, fleet(onDemand, 1, choice("x86_64", override("m5.large", subnetB))), "cluster", "one")[0]
	c := r.launch(t, fleet(onDemand, 1, choice("x86_64", override("m5.large", subnetA))), "cluster", "two",
		"claim", "c")[0]
	for name, c := range map[string]struct {
		ids     []string
		filters []types.Filter
		want    []string
		code    string
	}{
		"all":     {nil, nil, []string{a, b, c}, ""},
		"ids":     {[]string{c, a}, nil, []string{c, a}, ""},
		"tag":     {nil, []types.Filter{filter("tag:cluster", "one")}, []string{a, b}, ""},
		"pattern": {nil, []types.Filter{filter("tag:cluster", "t*")}, []string{c}, ""},
		"tag key": {nil, []types.Filter{filter("tag-key", "claim")}, []string{a, c}, ""},
		"tag and key": {
			nil,
			[]types.Filter{filter("tag-key", "claim"), filter("tag:cluster", "one")},
			[]string{a},
			"",
		},
		"state": {nil, []types.Filter{filter("instance-state-name", "running", "stopped")}, []string{a}, ""},
		"several states": {
			nil,
			[]types.Filter{filter("instance-state-name", "running", "pending")},
			[]string{a, b, c},
			"",
		},
		"id and state": {[]string{b}, []types.Filter{filter("instance-state-name", "running")}, nil, ""},
		"id filter":    {nil, []types.Filter{filter("instance-id", c, b)}, []string{b, c}, ""},
		"subnet":       {nil, []types.Filter{filter("subnet-id", subnetA)}, []string{a, c}, ""},
		"zone and type": {
			nil,
			[]types.Filter{filter("availability-zone", "us-east-1a"), filter("instance-type", "m5.*")},
			[]string{c},
			"",
		},
		"lifecycle":             {nil, []types.Filter{filter("instance-lifecycle", "spot")}, []string{a}, ""},
		"unknown id":            {[]string{a, "i-1"}, nil, nil, "InvalidInstanceID.NotFound"},
		"unknown filter":        {nil, []types.Filter{filter("colour", "red")}, nil, "InvalidParameterValue"},
		"filter without values": {nil, []types.Filter{filter("instance-id")}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, in := NewWithT(t), &ec2.DescribeInstancesInput{InstanceIds: c.ids, Filters: c.filters}
			if c.code != "" {
				_, err := r.ec2.DescribeInstances(t.Context(), in)
				g.Expect(err).To(HaveCode(c.code))
				return
			}
			g.Expect(r.list(t, in)).To(Equal(append([]string{}, c.want...)))
		})
	}
}

func TestInstancesInPages(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	ids := r.launch(t, fleet(spot, 23, choice("x86_64", override("c5.large", subnetA))), "cluster", "one")
	r.launch(t, fleet(spot, 5, choice("x86_64", override("c5.large", subnetA))), "cluster", "two")
	for size, want := range map[int32]int{1: 23, 5: 5, 22: 2, 23: 1, 100: 1} {
		in := &ec2.DescribeInstancesInput{MaxResults: aws.Int32(size), Filters: []types.Filter{filter("tag:cluster", "one")}}
		found, pages := collect(t, ec2.NewDescribeInstancesPaginator(r.ec2, in), instancesOf)
		g.Expect(pages).To(Equal(want))
		g.Expect(each(found, func(i types.Instance) string { return *i.InstanceId })).To(Equal(ids))
	}
	_, err := r.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{NextToken: aws.String("wrong")})
	g.Expect(err).To(HaveCode("InvalidPaginationToken"))
}

func TestCreateTags(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	ids := r.launch(t, fleet(spot, 2, choice("x86_64", override("c5.large", subnetA))), "Name", "old")
	_, err := r.ec2.CreateTags(t.Context(),
		&ec2.CreateTagsInput{Resources: ids, Tags: ec2Tags("Name", "new", "karpenter.sh/nodeclaim", "claim")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{Filters: []types.Filter{
		filter("tag:Name", "new"),
		filter("tag:karpenter.sh/nodeclaim", "claim"),
	}})).To(Equal(ids))

	_, err = r.ec2.CreateTags(t.Context(),
		&ec2.CreateTagsInput{Resources: []string{ids[0], "i-1"}, Tags: ec2Tags("Name", "lost")})
	g.Expect(err).To(HaveCode("InvalidInstanceID.NotFound"))
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{Filters: []types.Filter{filter("tag:Name", "lost")}})).To(BeEmpty())
}

func TestTerminate(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	r.Times.Ending = 0
	id := r.running(t, fleet(spot, 1, choice("x86_64", override("c5.large", subnetA))))[0]
	state := func() simulator.State { _, s, _ := r.Fleet().Get(id); return s }

	_, err := r.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id, "i-1"}})
	g.Expect(err).To(HaveCode("InvalidInstanceID.NotFound"))
	g.Expect(state()).To(Equal(simulator.Running))

	out, err := r.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.TerminatingInstances).To(Equal([]types.InstanceStateChange{{
		InstanceId:    aws.String(id),
		PreviousState: &types.InstanceState{Code: aws.Int32(16), Name: types.InstanceStateNameRunning},
		CurrentState:  &types.InstanceState{Code: aws.Int32(32), Name: types.InstanceStateNameShuttingDown},
	}}))
	g.Eventually(state).Should(Equal(simulator.Terminated))

	again, err := r.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.TerminatingInstances[0].CurrentState.Name).To(Equal(types.InstanceStateNameTerminated))
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{Filters: []types.Filter{filter("instance-state-name", "terminated")}})).
		To(Equal([]string{id}))
}

func TestInstanceStatus(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	ids := r.running(t, fleet(spot, 2, choice("x86_64", override("c5.large", subnetA))))
	ids = append(ids, r.launch(t, fleet(spot, 1, choice("x86_64", override("c5.large", subnetA))))...)
	g.Expect(r.Maintain(ids[1])).To(Succeed())

	for _, c := range []struct {
		in   ec2.DescribeInstanceStatusInput
		want []string
	}{
		{ec2.DescribeInstanceStatusInput{}, ids[:2]},
		{ec2.DescribeInstanceStatusInput{MaxResults: aws.Int32(1)}, ids[:2]},
		{ec2.DescribeInstanceStatusInput{IncludeAllInstances: aws.Bool(true)}, ids},
		{ec2.DescribeInstanceStatusInput{InstanceIds: ids[:1]}, ids[:1]},
		{ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter("event.code", "instance-reboot",
			"instance-retirement")}}, ids[1:2]},
		{ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter("instance-status.status", "impaired")}}, []string{}},
		{ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter("system-status.status", "impaired")}}, []string{}},
	} {
		found, _ := collect(t, ec2.NewDescribeInstanceStatusPaginator(r.ec2, &c.in),
			func(o *ec2.DescribeInstanceStatusOutput) []types.InstanceStatus { return o.InstanceStatuses })
		g.Expect(each(found, func(s types.InstanceStatus) string { return *s.InstanceId })).To(Equal(c.want))
		if len(c.want) == 1 && c.want[0] == ids[1] {
			g.Expect(found[0].Events).To(HaveLen(1))
			g.Expect(found[0].Events[0].Code).To(Equal(types.EventCodeInstanceRetirement))
			g.Expect(*found[0].Events[0].NotBefore).To(BeTemporally(">", time.Now().Add(13*24*time.Hour)))
			g.Expect(found[0].SystemStatus.Status).To(Equal(types.SummaryStatusOk))
			g.Expect(*found[0].InstanceState.Code).To(Equal(int32(16)))
		}
	}
}
