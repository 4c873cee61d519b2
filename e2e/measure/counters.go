package measure

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Metrics of controllers that are read.
const (
	metricCPU    = "process_cpu_seconds_total"
	metricMemory = "process_resident_memory_bytes"
	// metricRequests is that of controller-runtime; Karpenter has one of its own in its place (operatorpkg:
	// metrics/metrics.go).
	metricRequests  = "rest_client_requests_total"
	metricKarpenter = "client_go_request_total"
	metricDisrupted = "karpenter_nodeclaims_disrupted_total"
	// metricPrice has the labels instance_type, capacity_type and zone (AWS: pkg/providers/instancetype/metrics.go).
	metricPrice = "karpenter_cloudprovider_instance_type_offering_price_estimate"
)

// priceLabel has a node's price, where a provider sets it: it is what eks-node-viewer shows (Karpenter:
// kwok/apis/v1alpha1/labels.go).
const priceLabel = "eks-node-viewer/instance-price"

// counters adds up a controller's metrics. A counter that is lower than before began again with a new process.
type counters struct {
	last, sum map[string]float64
	memory    float64 // the most, in bytes
	scraped   bool
	prices    map[[3]string]float64 // by type, zone and capacity type
}

// Scrape takes the controller's metrics, in the text format of Prometheus. What the first one has counted is from
// before the measurement.
func (m *Meter) Scrape(page []byte) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(wanted(page)))
	if err != nil {
		return fmt.Errorf("the controller's metrics: %w", err)
	}
	c := &m.counters
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			c.take(family.GetName(), labels, metric.GetUntyped().GetValue()) // the lines with the types are left out
		}
	}
	c.scraped = true
	return nil
}

// Process takes what the controller's process has used, for where its metrics don't say: CPU time in seconds, and
// memory in bytes.
func (m *Meter) Process(cpu, memory float64) {
	c := &m.counters
	if _, said := c.last[metricCPU]; said {
		return
	}
	if _, known := c.last[processKey]; !known {
		c.last[processKey] = cpu // of before
	}
	c.count(CPU, processKey, cpu)
	c.memory = max(c.memory, memory)
}

// processKey is the counter of Process.
const processKey = "process"

// wanted returns the lines of the metrics that are read, which are few among thousands.
func wanted(page []byte) []byte {
	var lines [][]byte
	for line := range bytes.Lines(page) {
		for _, name := range []string{
			metricCPU, metricMemory, metricRequests, metricKarpenter, metricDisrupted, metricPrice,
		} {
			if bytes.HasPrefix(line, []byte(name)) {
				lines = append(lines, line)
			}
		}
	}
	return bytes.Join(lines, nil)
}

func (c *counters) take(name string, labels map[string]string, value float64) {
	switch name {
	case metricPrice:
		if c.prices == nil {
			c.prices = map[[3]string]float64{}
		}
		c.prices[[3]string{labels["instance_type"], labels["zone"], labels["capacity_type"]}] = value
	case metricMemory:
		c.memory = max(c.memory, value)
	case metricCPU:
		c.count(CPU, name, value)
	case metricRequests, metricKarpenter:
		c.count(byMethod+labels["method"], name+fmt.Sprint(labels), value)
	case metricDisrupted:
		c.count(byReason+strings.ToLower(labels["reason"]), name+fmt.Sprint(labels), value)
	}
}

// count adds what a counter has grown by. Key names it, with its labels.
func (c *counters) count(figure, key string, value float64) {
	before, known := c.last[key]
	c.last[key] = value
	switch {
	case !known && !c.scraped: // from before the measurement
		c.sum[figure] += 0
	case value < before:
		c.sum[figure] += value
	default:
		c.sum[figure] += value - before
	}
}

func (c *counters) figures() map[string]float64 {
	f := map[string]float64{}
	if c.scraped {
		f[Requests], f[Disruptions] = 0, 0
	}
	for name, value := range c.sum {
		f[name] = value
		if all, _, part := strings.Cut(name, "."); part {
			f[all] += value
		}
	}
	if c.memory > 0 {
		f[Memory] = c.memory / 1e6
	}
	return f
}

// priceOf returns the price per hour of a NodeClaim's node.
func (c *counters) priceOf(u *unstructured.Unstructured) (float64, bool) {
	if price, err := strconv.ParseFloat(karpenter.Label(u, priceLabel), 64); err == nil {
		return price, true
	}
	price, known := c.prices[[3]string{
		karpenter.InstanceType(u),
		karpenter.Label(u, corev1.LabelTopologyZone),
		karpenter.Label(u, karpenter.CapacityTypeLabel),
	}]
	return price, known
}
