package sdktest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// calls returns one call of each service, by its name in the journal.
func (r *region) calls() map[string]call {
	name := aws.String("x")
	return map[string]call{
		"ec2:DescribeInstances": dry(r.ec2.DescribeInstances, ec2.DescribeInstancesInput{}),
		"iam:GetInstanceProfile": func(ctx context.Context) error {
			_, err := iam.NewFromConfig(r.config).
				GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: name})
			return err
		},
		"eks:DescribeCluster": func(ctx context.Context) error {
			_, err := eks.NewFromConfig(r.config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name})
			return err
		},
		"ssm:GetParameter": func(ctx context.Context) error {
			_, err := ssm.NewFromConfig(r.config).GetParameter(ctx, &ssm.GetParameterInput{Name: name})
			return err
		},
		"pricing:GetProducts": func(ctx context.Context) error {
			_, err := pricing.NewFromConfig(r.config).GetProducts(ctx, &pricing.GetProductsInput{ServiceCode: name})
			return err
		},
		"sqs:GetQueueUrl": func(ctx context.Context) error {
			_, err := sqs.NewFromConfig(r.config).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: name})
			return err
		},
	}
}

func TestRefusals(t *testing.T) {
	for kind, want := range map[simulator.Kind]struct {
		code     string
		status   int
		attempts int // that the SDK makes
	}{
		simulator.Throttle: {"RequestLimitExceeded", http.StatusServiceUnavailable, 3},
		simulator.Denied:   {"UnauthorizedOperation", http.StatusForbidden, 1},
	} {
		r := newRegion(t)
		NewWithT(t).Expect(r.Faults.Add(simulator.Fault{Kind: kind})).To(Succeed())
		for name, do := range r.calls() {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				g, err := NewWithT(t), do(t.Context())
				g.Expect(err).To(HaveCode(want.code))
				g.Expect(status(err)).To(Equal(want.status))
				g.Expect(r.Journal.Report().Calls).To(HaveKeyWithValue(name, want.attempts))
				g.Expect(r.Journal.Report().Refused).To(HaveKeyWithValue(name+" "+want.code, want.attempts))
			})
		}
	}
}

func TestThrottledForAWhile(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	g.Expect(r.Faults.Add(simulator.Fault{Kind: simulator.Throttle, Call: "DescribeInstances", Count: 2})).To(Succeed())
	_, err := r.ec2.DescribeSubnets(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = r.ec2.DescribeInstances(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Journal.Report().Calls).To(Equal(map[string]int{"ec2:DescribeSubnets": 1, "ec2:DescribeInstances": 3}))
}

// TestLost checks that a call without an answer is repeated, but carried out only once.
func TestLost(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	image := r.template(t, "x86_64")
	for _, action := range []string{"CreateFleet", "CreateLaunchTemplate"} {
		g.Expect(r.Faults.Add(simulator.Fault{Kind: simulator.Lost, Call: action, Count: 1})).To(Succeed())
	}
	ids := r.launch(t, fleet(spot, 1, choice("x86_64", override("c5.large", subnetA))))
	g.Expect(ids).To(HaveLen(1))
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{})).To(Equal(ids))

	_, err := r.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String("second"),
		LaunchTemplateData: &types.RequestLaunchTemplateData{ImageId: aws.String(image)},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Templates(nil, nil)).To(HaveLen(2))
	g.Expect(r.Journal.Report().Calls).
		To(And(HaveKeyWithValue("ec2:CreateFleet", 2), HaveKeyWithValue("ec2:CreateLaunchTemplate", 3)))
}

func TestSlow(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	g.Expect(r.Faults.Add(simulator.Fault{
		Kind: simulator.Slow, Call: "DescribeInstances", By: 300 * time.Millisecond, Count: 2,
	})).To(Succeed())
	start := time.Now()
	_, err := r.ec2.DescribeInstances(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(start)).To(BeNumerically(">=", 300*time.Millisecond))

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = r.ec2.DescribeInstances(ctx, nil)
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
}

func TestStale(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	g.Expect(r.Faults.Add(simulator.Fault{Kind: simulator.Stale, By: time.Hour})).To(Succeed())
	ids := r.launch(t, fleet(spot, 1, choice("x86_64", override("c5.large", subnetA))))
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{})).To(BeEmpty())
	_, err := r.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: ids})
	g.Expect(err).To(HaveCode("InvalidInstanceID.NotFound"))
	_, err = r.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: ids})
	g.Expect(err).NotTo(HaveOccurred(), "only lists are stale")

	r.Faults.Clear()
	g.Expect(r.list(t, &ec2.DescribeInstancesInput{})).To(Equal(ids))
}

// TestNoCapacityOnce checks that NoCapacity counts once per request, not once per choice.
func TestNoCapacityOnce(t *testing.T) {
	g, r := NewWithT(t), newRegion(t)
	r.template(t, "x86_64")
	g.Expect(r.Faults.Add(simulator.Fault{
		Kind: simulator.NoCapacity, Offering: simulator.Offering{CapacityType: cloud.Spot}, Count: 1,
	})).To(Succeed())
	in := fleet(spot, 1, choice("x86_64", override("c5.large", subnetA), override("m5.large", subnetB)))
	out, err := r.ec2.CreateFleet(t.Context(), in)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Instances).To(BeEmpty())
	g.Expect(each(out.Errors, func(e types.CreateFleetError) string {
		return *e.ErrorCode
	})).To(Equal([]string{"InsufficientInstanceCapacity", "InsufficientInstanceCapacity"}))
	in.ClientToken = nil // the SDK has set it
	g.Expect(r.launch(t, in)).To(HaveLen(1))
}
