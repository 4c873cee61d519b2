package measure_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/measure"
)

const price = "eks-node-viewer/instance-price"

// One node for four hours at 2 per hour, and one for an hour at 1. Of three pods, one is moved from the first to the
// second node, where it waits for half a minute, and one never runs.
func story() *historytest.Story {
	node := historytest.Node("n1").Pool("p")
	first := historytest.NodeClaim("c1").Label(price, "2")
	second := historytest.NodeClaim("c2").Label(price, "1")
	stays, moves := historytest.Pod("a", "app"), historytest.Pod("b", "app")
	again, never := historytest.Pod("b2", "app"), historytest.Pod("never", "app")
	agent := historytest.Pod("agent", "agent").Set([]any{
		map[string]any{"kind": "DaemonSet", "name": "agent", "apiVersion": "apps/v1", "uid": "1"},
	}, "metadata", "ownerReferences")
	return historytest.Begin().
		Add(historytest.Pool("p")).Start().
		Add(first, stays, moves, agent).
		Change(first.True(karpenter.Launched)).
		After(10*time.Second).Add(node).
		Change(stays.On("n1").Phase("Running"), moves.On("n1").Phase("Running")).
		After(time.Hour - 10*time.Second).Add(second).Change(second.True(karpenter.Launched)).
		After(time.Minute).Change(node.Taint(karpenter.DisruptedTaint)).
		Delete(moves).Add(again).
		After(30 * time.Second).Change(again.On("n2").Phase("Running")).
		Change(node.Untaint(karpenter.DisruptedTaint)).Delete(stays). // by its user
		After(time.Hour - 90*time.Second).Delete(second).
		Add(never).
		After(2 * time.Hour).Delete(first)
}

func TestFiguresOfARecording(t *testing.T) {
	g := NewWithT(t)
	m := measure.New(0)
	g.Expect(m.Part(story().History())).To(Succeed())
	r := m.Result()
	g.Expect(r.Figures).To(Equal(map[string]float64{
		measure.Nodes:      5.0 / 4,
		measure.Cost:       9.0 / 4,
		measure.Launches:   2,
		measure.Lifetime:   3600,
		measure.Moved:      1,
		measure.WaitMedian: 10,
		measure.WaitP99:    30,
		measure.Waiting:    1,
	}))
	g.Expect(r.Notes).To(BeEmpty())
	sum := 0.0
	for _, p := range r.Nodes {
		sum += p.Value
	}
	g.Expect(sum/float64(len(r.Nodes))).To(BeNumerically("~", 5.0/4, 0.001), "the curve has the same mean")
}

func TestMeansAreOverTheLengthOfTheWorkload(t *testing.T) {
	g := NewWithT(t)
	m := measure.New(2 * time.Hour)
	g.Expect(m.Part(story().History())).To(Succeed())
	g.Expect(m.Result().Figures).To(HaveKeyWithValue(measure.Nodes, 1.5))
}

func TestWithoutPricesThereIsNoCost(t *testing.T) {
	g := NewWithT(t)
	claim := historytest.NodeClaim("c").Label("node.kubernetes.io/instance-type", "m5.large").True(karpenter.Launched)
	m := measure.New(0)
	g.Expect(m.Part(historytest.Begin().Add(claim).After(time.Hour).Delete(claim).History())).To(Succeed())
	r := m.Result()
	g.Expect(r.Figures).NotTo(HaveKey(measure.Cost))
	g.Expect(r.Notes).To(ConsistOf("the cost is not known: the provider says no price of m5.large"))
}

func TestPricesMayBeMetrics(t *testing.T) {
	g := NewWithT(t)
	claim := historytest.NodeClaim("c").Label("node.kubernetes.io/instance-type", "m5.large").
		Label("topology.kubernetes.io/zone", "z1").Label(karpenter.CapacityTypeLabel, "spot").True(karpenter.Launched)
	m := measure.New(0)
	const metric = "karpenter_cloudprovider_instance_type_offering_price_estimate"
	g.Expect(m.Scrape([]byte("# TYPE " + metric + " gauge\n" +
		metric + `{capacity_type="spot",instance_type="m5.large",zone="z1"} 0.04` + "\n"))).To(Succeed())
	g.Expect(m.Part(historytest.Begin().Add(claim).After(time.Hour).Delete(claim).History())).To(Succeed())
	g.Expect(m.Result().Figures[measure.Cost]).To(BeNumerically("~", 0.04))
}

func TestCountersOutliveTheirProcess(t *testing.T) {
	g := NewWithT(t)
	m := measure.New(0)
	for _, s := range []struct{ get, patch, cpu, memory int }{{100, 0, 10, 50}, {130, 5, 12, 90}, {7, 1, 1, 60}} {
		page := fmt.Sprintf(`# HELP process_cpu_seconds_total x
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total %d
process_resident_memory_bytes %de6
rest_client_requests_total{code="200",host="h",method="GET"} %d
`, s.cpu, s.memory, s.get)
		if s.patch > 0 {
			page += fmt.Sprintf("rest_client_requests_total{code=\"200\",host=\"h\",method=\"PATCH\"} %d\n", s.patch) +
				"karpenter_nodeclaims_disrupted_total{nodepool=\"p\",reason=\"Underutilized\"} 1\n"
		}
		g.Expect(m.Scrape([]byte(page))).To(Succeed())
	}
	f := m.Result().Figures
	g.Expect(f).To(HaveKeyWithValue("requests.GET", 37.0))
	g.Expect(f).To(HaveKeyWithValue("requests.PATCH", 6.0))
	g.Expect(f).To(HaveKeyWithValue(measure.Requests, 43.0))
	g.Expect(f).To(HaveKeyWithValue("disruptions.underutilized", 1.0))
	g.Expect(f).To(HaveKeyWithValue(measure.CPU, 3.0))
	g.Expect(f).To(HaveKeyWithValue(measure.Memory, 90.0))
}

func TestProcessesAreMeasuredWhereMetricsDontSay(t *testing.T) {
	g := NewWithT(t)
	m := measure.New(0)
	g.Expect(m.Scrape([]byte("client_go_request_total{code=\"200\",method=\"GET\"} 5\n"))).To(Succeed())
	for _, cpu := range []float64{10, 12, 1} {
		m.Process(cpu, 1e6*cpu)
	}
	g.Expect(m.Scrape([]byte("client_go_request_total{code=\"200\",method=\"GET\"} 8\n"))).To(Succeed())
	f := m.Result().Figures
	g.Expect(f).To(HaveKeyWithValue("requests.GET", 3.0))
	g.Expect(f).To(HaveKeyWithValue(measure.Memory, 12.0))
	g.Expect(f).To(HaveKeyWithValue(measure.CPU, 3.0))
}

func TestFiguresHaveAnOrder(t *testing.T) {
	g := NewWithT(t)
	var names []string
	for _, d := range measure.Describe([]string{
		"cpu", "requests.GET", "requests", "cost", "disruptions.empty", "disruptions",
	}) {
		names = append(names, d.Name)
	}
	g.Expect(names).To(Equal([]string{"cost", "disruptions", "disruptions.empty", "requests", "requests.GET", "cpu"}))
}
