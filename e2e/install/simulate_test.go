package install

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

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
	objects, err := p.simulatorObjects(a.SampleValues("v1.0.0"), "acme-sim@sha256:1", 30001, nil)
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

func TestASimulatorThatServesTLS(t *testing.T) {
	g := NewWithT(t)
	a := &providers.Adapter{Name: "acme", Simulator: &providers.Simulator{TLS: true, Port: 4566, Ready: "/healthz"}}
	ca, err := authorityOf(a.Simulator)
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := (&Prepared{adapter: a}).simulatorObjects(a.SampleValues(""), "acme-sim", 30001, ca)
	g.Expect(err).NotTo(HaveOccurred())
	var secret corev1.Secret
	var pod corev1.Pod
	for _, o := range objects {
		g.Expect(o.GetLabels()).To(HaveKey(cluster.OwnerLabel), "so that it goes with all else")
		switch o.GetKind() {
		case "Secret":
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &secret)).To(Succeed())
		case "Pod":
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod)).To(Succeed())
		}
	}
	g.Expect(pod.Spec.Volumes[0].Secret.SecretName).To(Equal(secret.Name))
	c := pod.Spec.Containers[0]
	g.Expect(c.VolumeMounts[0].MountPath).To(Equal("/etc/plumbline/ca"))
	g.Expect(c.Env).To(ContainElement(corev1.EnvVar{Name: "PLUMBLINE_CA", Value: "/etc/plumbline/ca"}))
	g.Expect(c.ReadinessProbe.HTTPGet.Scheme).To(BeEmpty(), "the harness goes on by plain HTTP")
	g.Expect(secret.Data).To(HaveLen(2))

	// Whoever trusts the CA trusts what it signs, at whatever time the cluster's clock shows.
	pair, err := tls.X509KeyPair(secret.Data["ca.crt"], secret.Data["ca.key"])
	g.Expect(err).NotTo(HaveOccurred())
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"acme.example"}, NotAfter: pair.Leaf.NotAfter,
	}
	raw, err := x509.CreateCertificate(rand.Reader, leaf, pair.Leaf, pair.Leaf.PublicKey, pair.PrivateKey)
	g.Expect(err).NotTo(HaveOccurred())
	cert, err := x509.ParseCertificate(raw)
	g.Expect(err).NotTo(HaveOccurred())
	roots := x509.NewCertPool()
	g.Expect(roots.AppendCertsFromPEM(secret.Data["ca.crt"])).To(BeTrue())
	for _, years := range []int{-49, 0, 49} {
		_, err = cert.Verify(x509.VerifyOptions{
			Roots: roots, DNSName: "acme.example", CurrentTime: time.Now().AddDate(years, 0, 0),
		})
		g.Expect(err).NotTo(HaveOccurred(), "%d years from now", years)
	}
}

func TestASimulatorOfAManagementCluster(t *testing.T) {
	g := NewWithT(t)
	a := &providers.Adapter{
		Name: "acme", Simulator: &providers.Simulator{Port: 4566, Ready: "/healthz"}, Management: &providers.Management{},
	}
	values := a.SampleValues("")
	values.Management = "a kubeconfig"
	objects, err := (&Prepared{adapter: a}).simulatorObjects(values, "acme-sim", 30001, nil)
	g.Expect(err).NotTo(HaveOccurred())
	var secret corev1.Secret
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, &secret)).To(Succeed())
	g.Expect(secret.Data).To(HaveKeyWithValue("kubeconfig", []byte("a kubeconfig")))
	var pod corev1.Pod
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(objects[len(objects)-1].Object, &pod)).To(Succeed())
	g.Expect(pod.Spec.Volumes[0].Secret.SecretName).To(Equal(secret.Name))
	g.Expect(pod.Spec.Containers[0].VolumeMounts[0].MountPath).To(Equal("/etc/plumbline/management"))
	g.Expect(pod.Spec.Containers[0].Env).
		To(ContainElement(corev1.EnvVar{Name: "PLUMBLINE_MANAGEMENT", Value: "/etc/plumbline/management/kubeconfig"}))

	texts, err := (&Prepared{adapter: a}).files(values)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(texts).To(Equal(map[string]string{"/etc/plumbline/management/kubeconfig": "a kubeconfig"}),
		"the controller's")

	// A backend that can't start one says so.
	_, err = (&Prepared{adapter: a}).manage(t.Context(), nil, values, nil)
	g.Expect(err).To(MatchError("the adapter of acme has a management cluster, which this backend can't start; " +
		"CLUSTER=local can"))
}

func TestTheControllerGetsTheSimulatorsCertificate(t *testing.T) {
	g := NewWithT(t)
	p := &Prepared{adapter: &providers.Adapter{Controller: providers.Controller{
		Files: map[string]providers.File{"/etc/acme/ca.json": {Text: `{{printf "%q" .CA}}`}},
	}}}
	texts, err := p.files(providers.Values{}.WithCA("PEM\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(texts).To(Equal(map[string]string{"/etc/acme/ca.json": `"PEM\n"`, "/etc/plumbline/ca/ca.crt": "PEM\n"}))
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
