package sdktest

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
)

// status returns the HTTP status of an error.
func status(err error) int {
	if e, is := errors.AsType[*awshttp.ResponseError](err); is {
		return e.HTTPStatusCode()
	}
	return 0
}

// call is a call of the SDK. Only its error matters.
type call func(ctx context.Context) error

// dry returns a call of EC2 with that input.
func dry[Input, Output any](f func(context.Context, *Input, ...func(*ec2.Options)) (*Output, error), in Input) call {
	return func(ctx context.Context) error { _, err := f(ctx, &in); return err }
}

func TestDryRuns(t *testing.T) {
	r, yes, x := newRegion(t), aws.Bool(true), aws.String("x")
	c := r.ec2
	calls := map[string]call{
		"CreateFleet": dry(c.CreateFleet,
			withDryRun(*fleet(spot, 1, choice("x", override("c5.large", subnetA))))),
		"CreateLaunchTemplate": dry(c.CreateLaunchTemplate, ec2.CreateLaunchTemplateInput{
			DryRun:             yes,
			LaunchTemplateName: x, LaunchTemplateData: &types.RequestLaunchTemplateData{},
		}),
		"CreateTags": dry(c.CreateTags,
			ec2.CreateTagsInput{DryRun: yes, Resources: []string{"x"}, Tags: ec2Tags("a", "b")}),
		"DeleteLaunchTemplate": dry(c.DeleteLaunchTemplate,
			ec2.DeleteLaunchTemplateInput{DryRun: yes, LaunchTemplateName: x}),
		"DescribeCapacityReservations": dry(c.DescribeCapacityReservations,
			ec2.DescribeCapacityReservationsInput{DryRun: yes}),
		"DescribeImages":         dry(c.DescribeImages, ec2.DescribeImagesInput{DryRun: yes}),
		"DescribeInstanceStatus": dry(c.DescribeInstanceStatus, ec2.DescribeInstanceStatusInput{DryRun: yes}),
		"DescribeInstanceTypeOfferings": dry(c.DescribeInstanceTypeOfferings,
			ec2.DescribeInstanceTypeOfferingsInput{DryRun: yes}),
		"DescribeInstanceTypes":    dry(c.DescribeInstanceTypes, ec2.DescribeInstanceTypesInput{DryRun: yes}),
		"DescribeInstances":        dry(c.DescribeInstances, ec2.DescribeInstancesInput{DryRun: yes}),
		"DescribeLaunchTemplates":  dry(c.DescribeLaunchTemplates, ec2.DescribeLaunchTemplatesInput{DryRun: yes}),
		"DescribePlacementGroups":  dry(c.DescribePlacementGroups, ec2.DescribePlacementGroupsInput{DryRun: yes}),
		"DescribeSecurityGroups":   dry(c.DescribeSecurityGroups, ec2.DescribeSecurityGroupsInput{DryRun: yes}),
		"DescribeSpotPriceHistory": dry(c.DescribeSpotPriceHistory, ec2.DescribeSpotPriceHistoryInput{DryRun: yes}),
		"DescribeSubnets":          dry(c.DescribeSubnets, ec2.DescribeSubnetsInput{DryRun: yes}),
		"RunInstances": dry(c.RunInstances,
			ec2.RunInstancesInput{DryRun: yes, MinCount: aws.Int32(1), MaxCount: aws.Int32(1)}),
		"TerminateInstances": dry(c.TerminateInstances,
			ec2.TerminateInstancesInput{DryRun: yes, InstanceIds: []string{"x"}}),
	}
	for name, do := range calls {
		t.Run(name, func(t *testing.T) {
			g, err := NewWithT(t), do(t.Context())
			g.Expect(err).To(HaveCode("DryRunOperation"))
			g.Expect(status(err)).To(Equal(http.StatusPreconditionFailed))
		})
	}
	g := NewWithT(t)
	report := r.Journal.Report()
	g.Expect(report.Calls).To(HaveLen(17))
	g.Expect(report.Unknown).To(BeEmpty())
	g.Expect(report.Refused).To(HaveKeyWithValue("ec2:CreateFleet DryRunOperation", 1))
	g.Expect(r.Templates(nil, nil)).To(BeEmpty())
}

func withDryRun(in ec2.CreateFleetInput) ec2.CreateFleetInput {
	in.DryRun = aws.Bool(true)
	return in
}

func TestUnknown(t *testing.T) {
	r := newRegion(t)
	for name, do := range map[string]call{
		"ec2:DescribeVpcs": dry(r.ec2.DescribeVpcs, ec2.DescribeVpcsInput{}),
		"iam:ListRoles": func(ctx context.Context) error {
			_,
				err := iam.NewFromConfig(r.config).ListRoles(ctx, nil)
			return err
		},
		"ssm:GetParameters": func(ctx context.Context) error {
			_, err := ssm.NewFromConfig(r.config).GetParameters(ctx, &ssm.GetParametersInput{Names: []string{"x"}})
			return err
		},
		"sqs:ListQueues": func(ctx context.Context) error {
			_, err := sqs.NewFromConfig(r.config).ListQueues(ctx, nil)
			return err
		},
		"eks:GET /clusters": func(ctx context.Context) error {
			_, err := eks.NewFromConfig(r.config).ListClusters(ctx, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := do(t.Context())
			g.Expect(err).To(HaveCode("InvalidAction"))
			g.Expect(status(err)).To(Equal(http.StatusBadRequest))
			g.Expect(r.Journal.Unknown()).To(ContainElement(name))
		})
	}
	NewWithT(t).Expect(r.Journal.Unknown()).To(HaveLen(5))
}

// TestUnknownService checks that an unknown service, named by the signature, is counted once.
func TestUnknownService(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	_, err := sts.NewFromConfig(r.config).GetCallerIdentity(t.Context(), nil)
	g.Expect(status(err)).To(Equal(http.StatusBadRequest))
	g.Expect(r.Journal.Report().Unknown).To(Equal(map[string]int{"sts:GetCallerIdentity": 1}))
}

// TestIgnored checks that parameters that an action ignores are counted.
func TestIgnored(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	_, err := r.ec2.DescribeInstanceTypeOfferings(t.Context(),
		&ec2.DescribeInstanceTypeOfferingsInput{Filters: []types.Filter{filter("location", "us-east-1a")}})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = r.ec2.DescribeSpotPriceHistory(t.Context(),
		&ec2.DescribeSpotPriceHistoryInput{Filters: []types.Filter{filter("availability-zone", "us-east-1a")}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Journal.Report().Ignored).To(And(
		HaveKey("ec2:DescribeInstanceTypeOfferings Filter.Name"), HaveKey("ec2:DescribeSpotPriceHistory Filter.Value")))
}

func TestRunInstances(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	_, err := r.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1)})
	g.Expect(err).To(HaveCode("UnsupportedOperation"))
	g.Expect(r.Instances(nil, nil)).To(Equal([]cloud.Seen{}))
}
