package install

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestNoVersionOfWhatLiesInAFolder(t *testing.T) {
	g := NewWithT(t)
	a := &providers.Adapter{
		Name: "acme", Core: "v1.15.0", Dir: t.TempDir(), CRDs: []providers.CRDs{{Path: "."}},
		Controller: providers.Controller{Build: &providers.Build{Module: ".", Package: "."}, Manifests: []string{"."}},
		NodeClass:  providers.Object{Inline: map[string]any{"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass"}},
	}
	for name, text := range map[string]string{"go.mod": "module example.com/acme\n", "a.yaml": ""} {
		g.Expect(os.WriteFile(filepath.Join(a.Dir, name), []byte(text), 0o600)).To(Succeed())
	}
	_, err := Prepare(t.Context(), nil, a, Selection{Version: "v1.9.0"})
	g.Expect(err).
		To(MatchError(ContainSubstring(
			"version v1.9.0 is asked for, but the adapter builds the controller from the folder .")))
}

func TestTheCoreThatAModuleLinks(t *testing.T) {
	for gomod, want := range map[string]string{
		"module example.com/acme\nrequire sigs.k8s.io/karpenter v1.14.0\n": "v1.14.0",
		"module sigs.k8s.io/karpenter\n":                                   "v1.15.0",
		"module example.com/acme\n":                                        "",
	} {
		g := NewWithT(t)
		a := &providers.Adapter{Dir: t.TempDir()}
		g.Expect(os.WriteFile(filepath.Join(a.Dir, "go.mod"), []byte(gomod), 0o600)).To(Succeed())
		core, err := linkedCore(a.Files(""), "go.mod", "v1.15.0")
		g.Expect(core).To(Equal(want), gomod)
		if want == "" {
			g.Expect(err).
				To(MatchError("go.mod does not require sigs.k8s.io/karpenter; say in the adapter's `core` which release it " +
					"is built on"))
		}
	}
}
