package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

const crdsOfAcme = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh}
spec: {group: karpenter.sh, names: {plural: nodepools, kind: NodePool}, versions: [{name: v1, served: true}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodeclaims.karpenter.sh}
spec: {group: karpenter.sh, names: {plural: nodeclaims, kind: NodeClaim}, versions: [{name: v1, served: true}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: acmenodeclasses.acme.example}
spec: {group: acme.example, names: {plural: acmenodeclasses, kind: AcmeNodeClass}, versions: [{name: v1, served: true}]}
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

const adapterOfAcme = `
name: acme
core: v1.15.0
controller:
  build: {module: ., package: ./nowhere}
  manifests: [manifests.yaml]
crds: [crds.yaml]
nodeClass: {apiVersion: acme.example/v1, kind: AcmeNodeClass}
capabilities: {nodePools: supported}
`

// acme returns an adapter of files alone, with some of its text replaced. Its controller can't be
// built.
func acme(t *testing.T, replace ...string) *providers.Adapter {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/acme\n", "crds.yaml": crdsOfAcme, "manifests.yaml": manifestsOfAcme,
		"plumbline.yaml": strings.NewReplacer(replace...).Replace(adapterOfAcme),
	} {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return providers.Load(filepath.Join(dir, "plumbline.yaml"))
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
		replace []string
		want    string
	}{
		"a CRD": {[]string{"AcmeNodeClass", "OtherNodeClass"}, "(?i)no CRD .*othernodeclass"},
		"an image": {
			[]string{"build: {module: ., package: ./nowhere}", "image: ./image.tar"}, `image\.tar`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Prepare(t.Context(), nil, acme(t, c.replace...), Selection{NoBuild: true, Kubernetes: "v1.36.3"})
			NewWithT(t).Expect(err).To(MatchError(MatchRegexp(c.want)))
		})
	}
}
