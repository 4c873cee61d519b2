package hostnode

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// answering starts a server on this machine. For a probe it is like one in the container.
func answering(t *testing.T) (port int32, answer *atomic.Int32) {
	t.Helper()
	answer = &atomic.Int32{}
	answer.Store(http.StatusServiceUnavailable)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && r.Header.Get("X-Who") == "probe" {
			w.WriteHeader(int(answer.Load()))
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return int32(number), answer
}

func TestReadinessFollowsItsProbe(t *testing.T) {
	port, answer := answering(t)
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyAlways, func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port}}
		c.ReadinessProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/readyz?verbose", Port: intstr.FromString("http"),
				HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Who", Value: "probe"}},
			}},
			PeriodSeconds: 1, FailureThreshold: 1,
		}
	}, "patient")
	d.Eventually(d.main).Should(Equal("running, ready false, restarts 0, Running"))
	answer.Store(http.StatusFound)
	d.Eventually(d.main).Should(Equal("running, ready true, restarts 0, Running"))
	d.Expect(isConditionTrue(&corev1.Pod{Status: d.now()}, corev1.PodReady)).To(BeTrue())
	answer.Store(http.StatusBadRequest)
	d.Eventually(d.main).Should(Equal("running, ready false, restarts 0, Running"))
	d.Expect(isConditionTrue(&corev1.Pod{Status: d.now()}, corev1.ContainersReady)).To(BeFalse())
}

func TestLivenessRestarts(t *testing.T) {
	port, answer := answering(t)
	answer.Store(http.StatusOK)
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyAlways, func(p *corev1.Pod) {
		p.Spec.Containers[0].LivenessProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/readyz", Port: intstr.FromInt32(port), HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Who", Value: "probe"}},
			}},
			PeriodSeconds: 1, FailureThreshold: 2,
		}
	}, "patient")
	d.Eventually(d.main).Should(Equal("running, ready true, restarts 0, Running"))
	answer.Store(http.StatusInternalServerError)
	d.Eventually(d.main).Should(Equal("running, ready true, restarts 1, Running"))
	last := d.now().ContainerStatuses[0].LastTerminationState.Terminated
	d.Expect(last.Message).To(HavePrefix("liveness probe failed: HTTP probe failed with status code 500"))
	d.Eventually(d.log).Should(HavePrefix("patient\nbye\npatient"), "it was asked to end")
}

func TestStartupHoldsReadinessBack(t *testing.T) {
	port, answer := answering(t)
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyAlways, func(p *corev1.Pod) {
		p.Spec.Containers[0].StartupProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: "/readyz", Port: intstr.FromInt32(port), HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Who", Value: "probe"}},
			}},
			PeriodSeconds: 1, FailureThreshold: 20,
		}
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/livez", Port: intstr.FromInt32(port)}},
			PeriodSeconds: 1,
		}
	}, "patient")
	d.Eventually(d.main).Should(Equal("running, ready false, restarts 0, Running"))
	d.Expect(*d.now().ContainerStatuses[0].Started).To(BeFalse())
	d.Consistently(d.main).Should(Equal("running, ready false, restarts 0, Running"))
	answer.Store(http.StatusOK)
	d.Eventually(d.main).Should(Equal("running, ready true, restarts 0, Running"))
}
