package providers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// metricsPort is the name in controller.ports of the port that serves /metrics.
const metricsPort = "metrics"

// ErrNoMetric says that the controller's metrics don't have the one asked
// for, or are out of reach: the adapter names no port "metrics", or the pod's
// address is not one of this host's.
var ErrNoMetric = errors.New("no such metric within reach")

// Metric reads a gauge or counter without labels from the controller, such
// as karpenter_cluster_state_synced.
func (i *Installed) Metric(ctx context.Context, name string) (float64, error) {
	port, named := i.ports[metricsPort]
	if !named {
		return 0, fmt.Errorf("%w: the adapter names no port %q", ErrNoMetric, metricsPort)
	}
	host, err := i.address(ctx)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/metrics"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", url, err)
	}
	for _, m := range families[name].GetMetric() {
		return m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue(), nil // it is one of them
	}
	return 0, fmt.Errorf("%w: %s has no %s", ErrNoMetric, url, name)
}

// address is where this host reaches the controller's running pod.
func (i *Installed) address(ctx context.Context) (string, error) {
	pods, err := i.clients.typed.CoreV1().Pods(i.Namespace).List(ctx, metav1.ListOptions{LabelSelector: i.selector})
	if err != nil {
		return "", err
	}
	for n := range pods.Items {
		pod := &pods.Items[n]
		ip := net.ParseIP(pod.Status.PodIP)
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && ip.IsLoopback() {
			return pod.Status.PodIP, nil
		}
	}
	return "", fmt.Errorf("%w: no running pod has an address of this host", ErrNoMetric)
}
