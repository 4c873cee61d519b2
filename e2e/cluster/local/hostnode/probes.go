package hostnode

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// runProbes probes a container until ctx ends. Other probes wait for the startup probe.
func (c *container) runProbes(ctx context.Context) {
	if c.spec.StartupProbe != nil {
		started, cancel := context.WithCancel(ctx)
		c.runProbe(started, "Startup", c.spec.StartupProbe, func(healthy bool, why string) {
			if healthy {
				c.setStarted(true)
				cancel()
				return
			}
			go c.stopProcess("startup probe failed: " + why)
			cancel()
		})
		cancel()
		if !isTrue(c.status().Started) {
			return
		}
	}
	var probes sync.WaitGroup
	defer probes.Wait()
	if p := c.spec.ReadinessProbe; p != nil {
		probes.Go(func() {
			c.runProbe(ctx, "Readiness", p, func(healthy bool, _ string) { c.setReady(healthy) })
		})
	}
	if p := c.spec.LivenessProbe; p != nil {
		probes.Go(func() {
			c.runProbe(ctx, "Liveness", p, func(healthy bool, why string) {
				if !healthy {
					go c.stopProcess("liveness probe failed: " + why)
				}
			})
		})
	}
}

// runProbe runs a probe by its periods and thresholds. It reports success once until the next
// reported failure, and failure each time the threshold is reached.
func (c *container) runProbe(ctx context.Context, kind string, p *corev1.Probe, report func(healthy bool, why string)) {
	period := secondsOr(p.PeriodSeconds, 10)
	sleep(ctx, secondsOr(p.InitialDelaySeconds, 0), nil)
	var good, bad int32
	healthy := false
	for ctx.Err() == nil {
		err := c.probeOnce(ctx, p)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			good, bad = good+1, 0
			if !healthy && good >= max(p.SuccessThreshold, 1) {
				healthy = true
				report(true, "")
			}
		default:
			good, bad = 0, bad+1
			c.pod.recordWarning("Unhealthy", fmt.Sprintf("%s probe of container %s failed: %v", kind, c.spec.Name, err))
			if bad >= failureThreshold(p) {
				healthy, bad = false, 0
				report(false, err.Error())
			}
		}
		sleep(ctx, period, nil)
	}
}

func failureThreshold(p *corev1.Probe) int32 {
	if p.FailureThreshold == 0 {
		return 3
	}
	return p.FailureThreshold
}

func secondsOr(n, otherwise int32) time.Duration {
	if n == 0 {
		n = otherwise
	}
	return time.Duration(n) * time.Second
}

// probeOnce probes over HTTP; refuse rejects all other probes. Status 200 to 399 is a success.
// Like the kubelet, it trusts any certificate.
func (c *container) probeOnce(ctx context.Context, p *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, secondsOr(p.TimeoutSeconds, 1))
	defer cancel()
	get := p.HTTPGet
	address, err := c.probeAddress(get.Host, get.Port)
	if err != nil {
		return err
	}
	target, err := url.Parse(get.Path)
	if err != nil {
		return err
	}
	target.Scheme, target.Host = strings.ToLower(string(get.Scheme)), address
	if target.Scheme == "" {
		target.Scheme = "http"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kube-probe/plumbline")
	for _, h := range get.HTTPHeaders {
		request.Header.Add(h.Name, h.Value)
		if strings.EqualFold(h.Name, "Host") {
			request.Host = h.Value
		}
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
	if answer.StatusCode < 200 || answer.StatusCode >= 400 {
		return fmt.Errorf("HTTP probe failed with status code %d: %s", answer.StatusCode, strings.TrimSpace(string(body)))
	}
	return nil
}

// probeAddress returns a probe's address; port may be the name of a container port.
func (c *container) probeAddress(host string, port intstr.IntOrString) (string, error) {
	if host == "" {
		host = loopback
	}
	if port.Type == intstr.Int {
		return net.JoinHostPort(host, strconv.Itoa(port.IntValue())), nil
	}
	for _, p := range c.spec.Ports {
		if p.Name == port.StrVal {
			return net.JoinHostPort(host, strconv.Itoa(int(p.ContainerPort))), nil
		}
	}
	if number, err := strconv.Atoi(port.StrVal); err == nil {
		return net.JoinHostPort(host, strconv.Itoa(number)), nil
	}
	return "", fmt.Errorf("the container has no port named %q", port.StrVal)
}
