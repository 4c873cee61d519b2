package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// metricsPort is the name in controller.ports of the port that serves /metrics.
const metricsPort = "metrics"

const metricsPage = "/metrics"

// ErrNoMetric means that the controller serves no such metric, that the adapter names no port
// "metrics", or that no pod runs.
var ErrNoMetric = errors.New("no such metric within reach")

// Metric reads a gauge or counter without labels, such as karpenter_cluster_state_synced.
func (i *Installed) Metric(ctx context.Context, name string) (float64, error) {
	page, err := i.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	return value(name, page)
}

// Metrics returns all of the controller's metrics, in the text format of Prometheus. The error is ErrNoMetric if
// there are none.
func (i *Installed) Metrics(ctx context.Context) ([]byte, error) {
	port, named := i.values.Ports[metricsPort]
	if !named {
		return nil, fmt.Errorf("%w: the adapter names no port %q", ErrNoMetric, metricsPort)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return i.page(ctx, port, metricsPage)
}

// value returns the value of a metric without labels.
func value(name string, page []byte) (float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(onlyMetric(name, page)))
	if err != nil {
		return 0, fmt.Errorf("the controller's metrics: %w", err)
	}
	for _, m := range families[name].GetMetric() {
		return m.GetUntyped().GetValue(), nil // onlyMetric omits the comment with its type
	}
	return 0, fmt.Errorf("%w: the controller serves no %s", ErrNoMetric, name)
}

// onlyMetric returns the lines that begin with a metric's name. Parsing the thousands of
// others after every spec would take too long.
func onlyMetric(name string, page []byte) []byte {
	var lines [][]byte
	for line := range bytes.Lines(page) {
		if bytes.HasPrefix(line, []byte(name)) {
			lines = append(lines, line)
		}
	}
	return bytes.Join(lines, nil)
}

// page returns the body of a page of the controller's running pod.
func (i *Installed) page(ctx context.Context, port int, path string) ([]byte, error) {
	pods, err := i.clients.typed.CoreV1().Pods(i.Namespace).List(ctx, metav1.ListOptions{LabelSelector: i.selector})
	if err != nil {
		return nil, err
	}
	for n := range pods.Items {
		pod := &pods.Items[n]
		if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		return i.clients.ask(ctx, pod, port, http.MethodGet, path, "")
	}
	return nil, fmt.Errorf("%w: no pod of the controller runs", ErrNoMetric)
}

// ask sends a request to a port of a pod. It connects directly to an address of this host,
// which the API server refuses to do. Other pods may be reachable only through the API server.
func (c *clients) ask(ctx context.Context, pod *corev1.Pod, port int, method, path, body string) ([]byte, error) {
	at := strconv.Itoa(port)
	if net.ParseIP(pod.Status.PodIP).IsLoopback() {
		return fetch(ctx, method, "http://"+net.JoinHostPort(pod.Status.PodIP, at)+path, body)
	}
	target, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	request := c.typed.CoreV1().RESTClient().Verb(method).Namespace(pod.Namespace).Resource("pods").
		Name(utilnet.JoinSchemeNamePort("http", pod.Name, at)).SubResource("proxy").Suffix(target.Path).Body([]byte(body))
	for name, values := range target.Query() {
		for _, value := range values {
			request.Param(name, value)
		}
	}
	return request.DoRaw(ctx)
}
