package wire

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

const fleet = 1000

// BenchmarkSimulatedAWS launches and ends 1000 instances over HTTP, 32 at a time. It makes
// Karpenter's calls for each.
func BenchmarkSimulatedAWS(b *testing.B) {
	var calls atomic.Int64
	for b.Loop() {
		g := NewWithT(b)
		base := simulator.NewBase(b.Context(), nil, simulator.Times{}, 1)
		c, err := cloud.New(base, cloud.Settings{})
		g.Expect(err).NotTo(HaveOccurred())
		server := httptest.NewServer(New(base, c, Cluster{}, "q"))
		call := func(action, form string, args ...any) (string, error) {
			calls.Add(1)
			return ask(server.URL, "Action="+action+"&"+fmt.Sprintf(form, args...))
		}
		id, err := c.Parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id")
		g.Expect(err).NotTo(HaveOccurred())
		_, err = call("CreateLaunchTemplate", "LaunchTemplateName=t&LaunchTemplateData.ImageId=%s", id)
		g.Expect(err).NotTo(HaveOccurred())

		var all errgroup.Group
		all.SetLimit(32)
		for n := range fleet {
			all.Go(func() error { return lifeOf(n, call) })
		}
		g.Expect(all.Wait()).To(Succeed())
		g.Eventually(func() int {
			ended, err := c.Instances(nil,
				[]cloud.Filter{{Name: "instance-state-name", Values: []string{string(simulator.Terminated)}}})
			g.Expect(err).NotTo(HaveOccurred())
			return len(ended)
		}).Should(Equal(fleet), "none is lost, and none is there twice")
		server.Close()
	}
	b.ReportMetric(float64(calls.Load())/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(fleet*b.N)/b.Elapsed().Seconds(), "instances/s")
}

var instanceID = regexp.MustCompile(`<instanceIds><item>(i-[0-9a-f]+)</item></instanceIds>`)

// lifeOf launches, describes, tags and ends an instance.
func lifeOf(n int, call func(action, form string, args ...any) (string, error)) error {
	answer, err := call("CreateFleet", "Type=instant&ClientToken=%d&TargetCapacitySpecification.TotalTargetCapacity=1"+
		"&TargetCapacitySpecification.DefaultTargetCapacityType=spot"+
		"&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=t"+
		"&LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large"+
		"&LaunchTemplateConfigs.1.Overrides.1.AvailabilityZone=us-east-1%s", n, string("abc"[n%3]))
	if err != nil {
		return err
	}
	found := instanceID.FindStringSubmatch(answer)
	if found == nil {
		return fmt.Errorf("no instance was launched: %s", answer)
	}
	for _, step := range []string{
		"DescribeInstances&InstanceId.1=%s", "CreateTags&ResourceId.1=%s&Tag.1.Key=Name&Tag.1.Value=n",
		"DescribeInstances&InstanceId.1=%s", "TerminateInstances&InstanceId.1=%s", "DescribeInstances&InstanceId.1=%s",
	} {
		action, form, _ := strings.Cut(step, "&")
		if _, err := call(action, form, found[1]); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a form to EC2. Any status but 200 is an error.
func ask(address, form string) (string, error) {
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form)) //nolint:noctx // a benchmark's
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/ec2/aws4_request")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

func TestFormsAreReadWhole(t *testing.T) {
	g := NewWithT(t)
	form,
		err := url.ParseQuery(
		"Action=X&Version=1&Name=n&On=true&Many.1=a&Many.2=b&Inner.Deep.Count=3&List.1.Share=0.5&List.2.Name=x" +
			"&Other=1&List.2.Unheard.7.Of=2&MaxResults=5")
	g.Expect(err).NotTo(HaveOccurred())
	type element struct {
		Name  string
		Share float64
	}
	var got struct {
		paging
		Name  string
		On    bool
		Many  []string
		Inner struct{ Deep struct{ Count int } }
		List  []element
	}
	g.Expect(decode(form, &got)).To(Equal([]string{"List.Unheard.Of", "Other"}), "what nobody asks for is told")
	g.Expect(got.Name).To(Equal("n"))
	g.Expect(got.On).To(BeTrue())
	g.Expect(got.Many).To(Equal([]string{"a", "b"}))
	g.Expect(got.Inner.Deep.Count).To(Equal(3))
	g.Expect(got.List).To(Equal([]element{{Share: 0.5}, {Name: "x"}}))
	g.Expect(got.MaxResults).To(Equal(5))
}
