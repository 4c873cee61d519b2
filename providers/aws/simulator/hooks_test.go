package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/aws/wire"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// served returns a region, and a function from "METHOD path" to a hook's status and body.
func served(t *testing.T) (*cloud.Cloud, func(call string) (int, string)) {
	t.Helper()
	g := NewWithT(t)
	base := simulator.NewBase(t.Context(), nil, simulator.Times{Pending: time.Hour}, 1)
	c, err := cloud.New(base, cloud.Settings{})
	g.Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(base.Handler(simulator.Cloud{
		Handler: wire.New(base, c, wire.Cluster{}, "q"), Instances: c.Fleet(), Hooks: hooks(c), Reset: c.Reset,
	}))
	t.Cleanup(server.Close)
	return c, func(call string) (int, string) {
		method, path, _ := strings.Cut(call, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/_sim/"+path, nil)
		g.Expect(err).NotTo(HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		g.Expect(err).NotTo(HaveOccurred())
		return response.StatusCode, strings.TrimSpace(string(body))
	}
}

func TestHooksDoWhatTheySay(t *testing.T) {
	g := NewWithT(t)
	c, call := served(t)
	does := func(hook string) {
		status, body := call(hook)
		g.Expect(status).To(Equal(http.StatusOK), hook+": "+body)
	}
	image, err := c.Parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.CreateTemplate("", "t", cloud.TemplateData{ImageID: image}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	request := cloud.FleetRequest{
		Capacity: cloud.Spot, Count: 1,
		Choices: []cloud.Choice{{TemplateName: "t", Overrides: []cloud.Override{{Type: "m5.large", Zone: "us-east-1a"}}}},
	}
	launches := func() int {
		f, err := c.CreateFleet(request)
		g.Expect(err).NotTo(HaveOccurred())
		return len(f.Launched)
	}
	g.Expect(launches()).To(Equal(1))
	ids := func() (ids []string) {
		_, body := call("GET instances")
		g.Expect(json.Unmarshal([]byte(body), &ids)).To(Succeed())
		return ids
	}
	g.Expect(ids()).To(HaveLen(1))
	does("POST instances/leak")
	g.Expect(ids()).To(HaveLen(2))

	does("POST faults?kind=noCapacity&capacity=spot&count=1")
	g.Expect([]int{launches(), launches()}).To(Equal([]int{0, 1}))
	does("POST faults?kind=lost&action=CreateFleet&count=1")
	does("DELETE faults")
	status, body := call("POST faults?kind=throttle&action=DescribeInstance")
	g.Expect(status).To(Equal(http.StatusBadRequest), "a fault that could never strike")
	g.Expect(body).To(ContainSubstring("ec2:DescribeInstances"))

	_, labels := call("GET labels?id=" + ids()[0])
	g.Expect(labels).To(ContainSubstring(`"karpenter.k8s.aws/instance-memory":"8192"`))
	for _, tell := range []string{"interrupt", "rebalance", "maintenance"} {
		does("POST " + tell + "?id=" + ids()[0])
	}
	g.Expect(c.Receive(t.Context(), 10, time.Minute, 0)).To(HaveLen(3))
	does("POST announcements?count=7")
	g.Expect(c.Receive(t.Context(), 10, 0, 0)).To(HaveLen(7))
	_, announced := call("GET announcements")
	g.Expect(announced).To(ContainSubstring(`"left":7`))

	does("PUT security-groups?count=3")
	does("PUT subnets?zones=ab")
	g.Expect(c.Groups(nil, nil)).To(HaveLen(3))
	g.Expect(c.Subnets(nil, nil)).To(HaveLen(2))
	does("POST reset")
	g.Expect(c.Groups(nil, nil)).To(HaveLen(1))
	g.Expect(c.Subnets(nil, nil)).To(HaveLen(3))
	does("POST images")
	g.Expect(c.Parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id")).
		NotTo(Equal(image))
	_, err = c.CreateProfile("p", "", nil)
	g.Expect(err).NotTo(HaveOccurred())
	does("PUT instance-profiles?role=other")
	p, err := c.Profile("p")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Role).To(Equal("other"))
}

func TestHooksRefuseWhatTheyCanNotDo(t *testing.T) {
	_, call := served(t)
	for hook, wrong := range map[string]string{
		"POST interrupt":               "?id= is missing",
		"POST interrupt?id=i-1":        `there is no instance "i-1"`,
		"PUT security-groups?count=-1": "?count=-1: it must be an integer of at least 0",
		"POST announcements?count=0":   "?count=0: it must be an integer of at least 1",
		"POST announcements?count=1e9": "?count=1e9: it must be an integer",
	} {
		status, body := call(hook)
		NewWithT(t).Expect(status).To(BeNumerically(">=", http.StatusBadRequest), hook)
		NewWithT(t).Expect(body).To(ContainSubstring(wrong), hook)
	}
}
