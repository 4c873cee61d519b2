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
		Name: "acme", Core: "v1.15.0", Dir: t.TempDir(), CRDs: []string{"."},
		Controller: providers.Controller{Build: &providers.Build{Module: ".", Package: "."}, Manifests: []string{"."}},
		NodeClass:  providers.Object{Inline: map[string]any{"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass"}},
	}
	for name, text := range map[string]string{"go.mod": "module example.com/acme\n", "a.yaml": ""} {
		g.Expect(os.WriteFile(filepath.Join(a.Dir, name), []byte(text), 0o600)).To(Succeed())
	}
	_, err := Prepare(t.Context(), nil, a, Selection{Version: "v1.9.0"})
	g.Expect(err).To(MatchError(ContainSubstring("version v1.9.0 is asked for, but the adapter builds the controller from the folder .")))
}
