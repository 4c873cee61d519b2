//go:build e2e

package install

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/providers"
)

// prepare prepares the built-in kwok provider with the user's cache.
func prepare(t *testing.T, s Selection) (*Prepared, error) {
	t.Helper()
	cache, err := build.Open(func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	return Prepare(t.Context(), cache, providers.Named("kwok"), s)
}

// charted returns a provider of a chart that is made for the test.
func charted(t *testing.T) *Prepared {
	t.Helper()
	g := NewWithT(t)
	cache, err := build.Open(func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	write(t, dir, "chart/Chart.yaml", "apiVersion: v2\nname: acme\nversion: 1.0.0\n")
	write(t, dir, "chart/templates/deployment.yaml", rendered)
	p := &Prepared{adapter: &providers.Adapter{
		Dir: dir, Controller: providers.Controller{Chart: &providers.Chart{Path: "chart"}},
	}}
	p.values = p.adapter.SampleValues("")
	g.Expect(p.findChart(t.Context(), cache, Selection{})).To(Succeed())
	g.Expect(p.tryManifests(t.Context(), cache, Selection{})).To(Succeed())
	return p
}

// write writes a file in a folder, which it makes.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// One adapter serves all releases, although their charts, values and CRDs differ.
func TestKwokPreparesAtEveryRelease(t *testing.T) {
	for _, version := range []string{"v1.15.0", "v1.9.0", "v1.5.5", "v1.1.5", "v1.0.8"} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			p, err := prepare(t, Selection{Version: version, Kubernetes: "v1.36.3"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.core).To(Equal(version))
			g.Expect(p.controller.digest).To(HavePrefix("sha256:"))

			p.values.Ports = map[string]int{"metrics": 18080, "health": 18081, "webhook": 18443, "webhookMetrics": 18001}
			m, err := p.render(t.Context(), p.values, platformOf("v1.36.3"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(m.container.Ports).To(ContainElement(HaveField("ContainerPort", int32(18081))))
			g.Expect(m.container.Env).To(ContainElement(And(HaveField("Name", "METRICS_PORT"), HaveField("Value", "18080"))))
			for _, o := range m.objects {
				g.Expect(o.GetAPIVersion()).NotTo(ContainSubstring("beta"), o.GetKind())
			}
			webhook := ContainElement(HaveField("ContainerPort", int32(18443)))
			if version != "v1.0.8" { // since then NodeClaims have this label
				restricted := Or(Not(ContainSubstring(`label domain \"karpenter.kwok.sh\" is restricted`)),
					ContainSubstring("karpenter.kwok.sh/kwoknodeclass"))
				for _, crd := range p.crds {
					text, err := crd.MarshalJSON()
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(string(text)).To(restricted, crd.GetName())
				}
			}
			if version != "v1.0.8" {
				webhook = Not(webhook)
			}
			g.Expect(m.container.Ports).To(webhook, "releases before 1.1 have webhooks")
		})
	}
}

func TestPrepareSaysWhatIsWrong(t *testing.T) {
	g := NewWithT(t)
	_, err := prepare(t, Selection{Version: "v1.99.0"})
	g.Expect(err).To(MatchError(ContainSubstring(`sigs.k8s.io/karpenter has no version "v1.99.0": there are v1.`)))

	_, err = prepare(t, Selection{Image: "./no/such/layout"})
	g.Expect(err).To(MatchError(ContainSubstring("no/such/layout")))
}

func TestPrepareTellsWhatHelmSays(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, "chart/Chart.yaml", "apiVersion: v2\nname: broken\nversion: 1.0.0\n")
	write(t, dir, "chart/templates/deployment.yaml",
		"name: {{ required \"say settings.clusterName\" .Values.settings.clusterName }}\n")
	cache, err := build.Open(nil)
	g.Expect(err).NotTo(HaveOccurred())
	a := providers.Named("kwok")
	a.Controller.Chart.Path = filepath.Join(dir, "chart")
	a.Controller.Chart.Values = map[string]any{"settings": map[string]any{}}
	_, err = Prepare(t.Context(), cache, a, Selection{})
	g.Expect(err).To(MatchError(And(ContainSubstring("chart "+a.Controller.Chart.Path+" does not render: helm says: "),
		ContainSubstring("say settings.clusterName"))))
}

// ConfigMaps and the like may stand beside a chart.
func TestManifestsBesideAChart(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "map.yaml")
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-{{.ClusterName}}}\n"
	g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	p := charted(t)
	p.adapter.Controller.Manifests = []string{file}
	m, err := p.render(t.Context(), p.values, platformOf(kubernetesVersion))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.objects).To(ContainElement(And(HaveField("GetKind()", "ConfigMap"),
		HaveField("GetName()", "of-plumbline"))))
	g.Expect(m.deployment.GetName()).To(Equal("acme"), "the chart's")
}
