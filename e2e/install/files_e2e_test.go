//go:build e2e

package install

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/plumbline-e2e/plumbline/providers"
)

// shows is a program that plays a controller, and a simulator. It shows its files and its
// environment.
const shows = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	address := ":" + os.Getenv("HEALTH_PROBE_PORT")
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	http.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(r.FormValue("of"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		_, _ = w.Write(text)
	})
	http.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, os.Getenv(r.FormValue("of"))) })
	panic(http.ListenAndServe(address, nil))
}
`

// What the adapter promises of files, a CA and a proxy is what the containers have.
func TestFilesAndACAAreInTheContainers(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/shows\n\ngo 1.24\n")
	write(t, dir, "main.go", shows)
	write(t, dir, "ca.json", `{{printf "%q" .CA}}`)
	write(t, dir, "adapter.yaml", `name: shows
base: kwok
core: v1.15.0
controller: {build: {module: ., package: .}}
`)
	a := providers.Load(filepath.Join(dir, "adapter.yaml"))
	a.Controller.Files = map[string]providers.File{
		"/etc/acme/cloud/url": {Text: "https://{{.Simulator}}"}, "/etc/acme/ca.json": {File: "ca.json"},
	}
	a.Simulator = &providers.Simulator{
		Build: a.Controller.Build, Args: []string{"{{.Simulator}}"}, Port: 4580, Ready: "/healthz", Proxy: true,
	}
	a.Hooks = map[providers.HookName]providers.Hook{providers.Interrupt: {
		Subresource: "status",
		PatchNode: map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Preempted", "status": "True", "lastTransitionTime": "{{.Now}}"},
		}}},
	}}
	write(t, dir, "machines.yaml", crd("machines", "acme.example", "Machine"))
	write(t, dir, "map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-{{.ClusterName}}}\n")
	a.Management = &providers.Management{
		CRDs: []providers.CRDs{{Path: "machines.yaml"}}, Manifests: []string{"map.yaml"},
	}
	g.Expect(a.Validate()).To(Succeed())
	i, c, err := install(t, a, "")
	g.Expect(err).NotTo(HaveOccurred())

	pods, err := i.clients.typed.CoreV1().Pods(i.Namespace).
		List(t.Context(), metav1.ListOptions{LabelSelector: i.selector})
	g.Expect(err).NotTo(HaveOccurred())
	of := func(host, kind, name string) string {
		text, err := fetch(t.Context(), http.MethodGet, "http://"+host+"/"+kind+"?of="+url.QueryEscape(name), "")
		g.Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
	controller := fmt.Sprintf("%s:%d", pods.Items[0].Status.PodIP, i.values.Ports["health"])
	simulator := i.simulator.address
	g.Expect(of(controller, "file", "/etc/acme/cloud/url")).To(Equal("https://" + simulator))
	ca := of(controller, "file", "/etc/plumbline/ca/ca.crt")
	g.Expect(x509.NewCertPool().AppendCertsFromPEM([]byte(ca))).To(BeTrue())
	g.Expect(of(controller, "file", "/etc/acme/ca.json")).To(Equal(fmt.Sprintf("%q", ca)))
	_, err = fetch(t.Context(), http.MethodGet, "http://"+controller+"/file?of=/etc/plumbline/ca/ca.key", "")
	g.Expect(err).To(MatchError(ContainSubstring("404")), "the key is the simulator's alone")
	g.Expect(of(controller, "env", "SSL_CERT_FILE")).To(Equal("/etc/plumbline/ca/ca.crt"))
	g.Expect(of(controller, "env", "HTTPS_PROXY")).To(Equal("http://" + simulator))
	g.Expect(of(controller, "env", "NO_PROXY")).To(HavePrefix(of(controller, "env", "KUBERNETES_SERVICE_HOST") + ","))

	g.Expect(of(simulator, "env", "PLUMBLINE_CA")).To(Equal("/etc/plumbline/ca"))
	g.Expect(of(simulator, "file", "/etc/plumbline/ca/ca.crt")).To(Equal(ca))
	g.Expect(of(simulator, "file", "/etc/plumbline/ca/ca.key")).To(ContainSubstring("PRIVATE KEY"))
	g.Expect(of(simulator, "env", "HTTPS_PROXY")).To(BeEmpty(), "the controller's alone")

	// Both have the access to the management cluster, which is another one.
	kubeconfig := of(controller, "file", "/etc/plumbline/management/kubeconfig")
	g.Expect(of(simulator, "file", of(simulator, "env", "PLUMBLINE_MANAGEMENT"))).To(Equal(kubeconfig))
	access, err := clientcmd.RESTConfigFromKubeConfig([]byte(kubeconfig))
	g.Expect(err).NotTo(HaveOccurred())
	management, err := newClients(access)
	g.Expect(err).NotTo(HaveOccurred())
	machines := schema.GroupVersionResource{Group: "acme.example", Version: "v1", Resource: "machines"}
	_, err = management.dynamic.Resource(machines).List(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = i.clients.dynamic.Resource(machines).List(t.Context(), metav1.ListOptions{})
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	_, err = management.typed.CoreV1().ConfigMaps(i.Namespace).Get(t.Context(), "of-plumbline", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	node, err := i.clients.typed.CoreV1().Nodes().
		Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = i.Call(t.Context(), providers.Interrupt,
		providers.HookValues{NodeName: node.Name, Now: time.Now().UTC().Format(time.RFC3339)})
	g.Expect(err).NotTo(HaveOccurred())
	node, err = i.clients.typed.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(node.Status.Conditions).To(ContainElement(HaveField("Type", corev1.NodeConditionType("Preempted"))))

	g.Expect(c.Close(t.Context())).To(Succeed())
	_, err = management.typed.Discovery().ServerVersion()
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")), "it ends with the cluster")
}
