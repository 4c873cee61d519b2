package install

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestTheSimulatorsPod(t *testing.T) {
	g := NewWithT(t)
	a := &providers.Adapter{Name: "acme", Simulator: &providers.Simulator{
		Args: []string{"--listen={{.Simulator}}", "--cluster", "{{.ClusterName}}"}, Port: 4566, Ready: "/healthz",
		Rights: []map[string]any{{"apiGroups": []any{"acme.example"}, "resources": []any{"machines"}, "verbs": []any{"get"}}},
	}}
	p := &Prepared{adapter: a}
	objects, err := p.simulatorObjects(a.SampleValues("v1.0.0"), "acme-sim@sha256:1", 30001)
	g.Expect(err).NotTo(HaveOccurred())
	kinds := map[string]map[string]any{}
	for _, o := range objects {
		g.Expect(o.GetLabels()).To(HaveKey(cluster.OwnerLabel), "so that it goes with all else")
		kinds[o.GetKind()] = o.Object
	}
	g.Expect(kinds).To(And(HaveLen(4), HaveKey("ServiceAccount"), HaveKey("ClusterRoleBinding")))
	var pod corev1.Pod
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(kinds["Pod"], &pod)).To(Succeed())
	c := pod.Spec.Containers[0]
	g.Expect(c.Args).To(Equal([]string{"--listen=$(POD_IP):30001", "--cluster", "plumbline"}),
		"the kubelet knows the address")
	g.Expect(c.Env[0].ValueFrom.FieldRef.FieldPath).To(Equal("status.podIP"))
	g.Expect(c.ReadinessProbe.HTTPGet.Port.IntValue()).To(Equal(30001))
	g.Expect(pod.Spec.RestartPolicy).To(Equal(corev1.RestartPolicyNever), "its memory is its state")
	var role rbacv1.ClusterRole
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(kinds["ClusterRole"], &role)).To(Succeed())
	g.Expect(role.Rules).To(ContainElement(rbacv1.PolicyRule{
		APIGroups: []string{"acme.example"},
		Resources: []string{"machines"}, Verbs: []string{"get"},
	}))
	g.Expect(role.Rules[0].Resources).To(ContainElement("nodes"))
}

func TestASimulatorIsAskedWhetherItIsReady(t *testing.T) {
	g := NewWithT(t)
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "not yet", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	at, err := netip.ParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	g.Expect(err).NotTo(HaveOccurred())
	i := &Installed{
		simulator: running(at),
		adapter:   &providers.Adapter{Simulator: &providers.Simulator{Ready: "/healthz"}},
	}
	g.Expect(i.Components()).To(HaveLen(1))
	g.Expect(i.Components()[0].Ask(t.Context())).To(MatchError(ContainSubstring("not yet")), "which is an answer")
	g.Expect(asked).To(Receive(Equal("/healthz")))
	g.Expect((&Installed{}).Components()).To(BeEmpty())
}

func TestWhatASimulatorDoesNotKnow(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/unknown" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`["ec2:DescribeVpcs"]`))
	}))
	defer server.Close()
	at, err := netip.ParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	g.Expect(err).NotTo(HaveOccurred())
	i := &Installed{simulator: running(at), adapter: &providers.Adapter{Simulator: &providers.Simulator{}}}
	g.Expect(i.Unknown(t.Context())).To(BeEmpty(), "it has no way to say")
	i.adapter.Simulator.Unknown = "/unknown"
	g.Expect(i.Unknown(t.Context())).To(Equal([]string{"ec2:DescribeVpcs"}))
	i.adapter.Simulator.Unknown = "/nowhere"
	_, err = i.Unknown(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("404")))
	g.Expect((&Installed{}).Unknown(t.Context())).To(BeEmpty())
	g.Expect((&Installed{}).SimulatorEnded(t.Context())).To(BeNil())
}
