//go:build e2e

package draft

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/providers"
)

// helm returns the pinned Helm of the user's cache.
func helm(t *testing.T) Helm {
	t.Helper()
	cache, err := build.Open(func(line string) { t.Log(line) })
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	h, err := install.OpenHelm(t.Context(), cache)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return h.Run
}

func TestAnAdapterIsMadeFromAChart(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	ref, err := filepath.Abs("testdata/chart")
	g.Expect(err).NotTo(HaveOccurred())
	chart, err := Open(ctx, helm(t), ref)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := Write(ctx, chart, Options{Path: ref})
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(t.TempDir(), "plumbline.yaml")
	g.Expect(os.WriteFile(file, text, 0o600)).To(Succeed())

	a := providers.Load(file)
	g.Expect(a.Validate()).To(Succeed(), string(text))
	g.Expect(a.Name).To(Equal("acme"))
	k := a.Controller
	g.Expect(k.Image).To(Equal("registry.acme.example/karpenter:v1.4.0"))
	g.Expect(k.Ports).To(Equal(map[string]int{"metrics": 8000, "health": 8081, "webHook": 8443}))
	g.Expect(k.Gates).To(Equal(map[string]bool{"NodeRepair": true, "StaticCapacity": false}))
	g.Expect(k.Chart.Values).To(Equal(map[string]any{
		"count":   int64(1),
		"account": map[string]any{"token": sample},
		"image":   map[string]any{"repo": "{{.Image.Repository}}", "tag": "{{.Image.Tag}}"},
		"settings": map[string]any{
			"clusterName": "{{.ClusterName}}", "metrics": map[string]any{"port": "{{.Ports.metrics}}"},
		},
	}))
	g.Expect(a.NodeClassObject("").Object).To(Equal(map[string]any{
		"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{
			"image": sample, "size": int64(20), "disks": []any{map[string]any{"kind": "ssd"}},
		},
	}))
	g.Expect(string(text)).To(And(
		ContainSubstring("# TODO account.token: the chart doesn't render without it"),
		Not(ContainSubstring("# TODO settings.clusterName")), // the harness knows it
		ContainSubstring("#   REGION"), Not(ContainSubstring("#   CLUSTER_NAME")),
		ContainSubstring("8443 # no value of the chart changes it"),
		ContainSubstring("the Secret acme-key"),
		ContainSubstring("the Secret acme-account, key password"),
		ContainSubstring("the ConfigMap acme-settings"),
		ContainSubstring("spec: the API server checks: an image must be selected"),
		ContainSubstring("spec.image: made up. Image is the ID of an image"),
		ContainSubstring("There is also the kind AcmeUnmanagedNodeClass"),
	))
}

func TestWhatIsNoChartIsRefused(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, err := Open(ctx, helm(t), t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("Chart.yaml file is missing")))

	ended, end := context.WithCancel(ctx)
	end()
	_, err = Open(ended, helm(t), "testdata/chart")
	g.Expect(err).To(HaveOccurred())
}
