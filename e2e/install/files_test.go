package install

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// withFiles returns the manifests of the rendered chart, with these files of the adapter's.
func withFiles(t *testing.T, chart string, files map[string]providers.File) (*manifests, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte("CA of {{.ClusterName}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Prepared{adapter: &providers.Adapter{Dir: dir, Controller: providers.Controller{Files: files}}}
	return p.adjust(parsed(t, chart), providers.Values{ClusterName: "lab", Namespace: "kube-system"})
}

func TestTheControllerGetsItsFiles(t *testing.T) {
	g := NewWithT(t)
	m, err := withFiles(t, rendered, map[string]providers.File{
		"/etc/acme/cloud.json":   {Text: `{"cluster": "{{.ClusterName}}"}`},
		"/etc/acme/trust/ca.pem": {File: "ca.pem"},
		"/opt/acme/empty":        {},
	})
	g.Expect(err).NotTo(HaveOccurred())

	secret := m.objects[slices.IndexFunc(m.objects, func(o *unstructured.Unstructured) bool {
		return o.GetName() == filesName
	})]
	g.Expect(secret.GetKind() + " " + secret.GetNamespace()).To(Equal("Secret kube-system"))
	g.Expect(secret.GetLabels()).To(HaveKey(cluster.OwnerLabel), "so that it goes with all else")
	data, _, err := unstructured.NestedStringMap(secret.Object, "data")
	g.Expect(err).NotTo(HaveOccurred())
	text := func(key string) string {
		raw, err := base64.StdEncoding.DecodeString(data[key])
		g.Expect(err).NotTo(HaveOccurred())
		return string(raw)
	}
	g.Expect(text("file-0-0")).To(Equal(`{"cluster": "lab"}`))
	g.Expect(text("file-0-1")).To(Equal("CA of lab"))
	g.Expect(data).To(HaveLen(3))

	volumes, _, err := unstructured.NestedSlice(m.deployment.Object, "spec", "template", "spec", "volumes")
	g.Expect(err).NotTo(HaveOccurred())
	item := func(key, path string) any { return map[string]any{"key": key, "path": path} }
	g.Expect(volumes).To(Equal([]any{
		map[string]any{"name": "plumbline-files-0", "secret": map[string]any{
			"secretName": "plumbline-files",
			"items":      []any{item("file-0-0", "cloud.json"), item("file-0-1", "trust/ca.pem")},
		}},
		map[string]any{"name": "plumbline-files-1", "secret": map[string]any{
			"secretName": "plumbline-files", "items": []any{item("file-1-0", "empty")},
		}},
	}), "a folder inside another one is no mount of its own")
	g.Expect(m.container.Name).To(Equal("controller"))
	g.Expect(m.container.VolumeMounts).To(HaveLen(2))
	g.Expect(m.container.VolumeMounts[0].MountPath).To(Equal("/etc/acme"))
	g.Expect(m.container.VolumeMounts[1].MountPath).To(Equal("/opt/acme"))
}

func TestAFileWhereTheChartMountsSomething(t *testing.T) {
	const chart = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme}
spec:
  selector: {matchLabels: {app: acme}}
  template:
    spec:
      containers: [{name: controller, volumeMounts: [{name: settings, mountPath: /etc/acme/conf/}]}]
      volumes: [{name: settings, configMap: {name: settings}}]
`
	for _, name := range []string{"/etc/acme/conf/a", "/etc/acme/conf/sub/a", "/etc/acme/a"} {
		_, err := withFiles(t, chart, map[string]providers.File{name: {}})
		NewWithT(t).Expect(err).To(MatchError(HavePrefix("controller.files." + name +
			": the chart mounts its volume `settings` at /etc/acme/conf, so nothing else can be put into ")))
	}
	_, err := withFiles(t, chart, map[string]providers.File{"/etc/acme/configuration/a": {}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func TestAProgramOfTheHostHasNoFiles(t *testing.T) {
	g := NewWithT(t)
	a := providers.Named("kwok")
	a.Controller.Files = map[string]providers.File{"/etc/acme/cloud.json": {Text: "x"}}
	_, err := Prepare(t.Context(), nil, a, Selection{Host: true})
	g.Expect(err).To(MatchError("provider kwok: the controller is to run as a program of this machine, which has no " +
		"files of its own at /etc/acme/cloud.json (controller.files, simulator.tls, management); use a backend that runs " +
		"images here, such as CLUSTER=kind"))
}
