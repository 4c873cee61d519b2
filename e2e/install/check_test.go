package install

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

const crdsOfAcme = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodeclaims.karpenter.sh}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: acmenodeclasses.acme.example}
spec: {group: acme.example, names: {kind: AcmeNodeClass, plural: acmenodeclasses}}
`

const manifestsOfAcme = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: acme}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme}
spec:
  selector: {matchLabels: {app: acme}}
  template:
    metadata: {labels: {app: acme}}
    spec: {containers: [{name: controller, image: acme}]}
`

// acme returns an adapter of files alone. Its controller can't be built.
func acme(t *testing.T) *providers.Adapter {
	t.Helper()
	a := &providers.Adapter{
		Name: "acme", Core: "v1.15.0", Dir: t.TempDir(), CRDs: []providers.CRDs{{Path: "crds.yaml"}},
		Controller: providers.Controller{
			Build: &providers.Build{Module: ".", Package: "./nowhere"}, Manifests: []string{"manifests.yaml"},
		},
		NodeClass: providers.Object{Inline: map[string]any{"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass"}},
	}
	for name, text := range map[string]string{
		"go.mod": "module example.com/acme\n", "crds.yaml": crdsOfAcme, "manifests.yaml": manifestsOfAcme,
	} {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(a.Dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return a
}

func TestAProviderIsCheckedWithoutABuild(t *testing.T) {
	g := NewWithT(t)
	p, err := Prepare(t.Context(), nil, acme(t), Selection{NoBuild: true, Kubernetes: "v1.36.3"})
	g.Expect(err).NotTo(HaveOccurred())
	found, err := p.Found(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(Found{
		Core: "v1.15.0", Objects: 2, Deployment: "kube-system/acme",
		CRDs: []string{"nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "acmenodeclasses.acme.example"},
	}))
}

func TestACheckFindsWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*providers.Adapter)
		want   string
	}{
		"a CRD": {
			func(a *providers.Adapter) { a.NodeClass.Inline["kind"] = "OtherNodeClass" },
			"no CRD is that of nodeClass, which is kind OtherNodeClass of acme.example",
		},
		"an image": {
			func(a *providers.Adapter) {
				a.Controller.Build, a.Controller.Image = nil, "./image.tar"
			}, "image.tar",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := acme(t)
			c.change(a)
			_, err := Prepare(t.Context(), nil, a, Selection{NoBuild: true, Kubernetes: "v1.36.3"})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}
