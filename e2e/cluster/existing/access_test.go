package existing

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// kubeconfig returns the path of a kubeconfig for a server.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	NewWithT(t).Expect(os.WriteFile(file, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
		contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "%s"}}]}`, server), 0o600)).To(Succeed())
	return file
}

func TestWhatTheServerIs(t *testing.T) {
	g := NewWithT(t)
	version := "v1.36.3"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"gitVersion": %q}`, version)
	}))
	file := kubeconfig(t, server.URL)

	for _, asked := range []string{"", "1.36", "v1.36", "v1.36.3"} {
		g.Expect(Kubernetes(file, asked)).To(Equal("v1.36.3"), asked)
	}
	_, err := Kubernetes(file, "1.35")
	g.Expect(err).To(MatchError(ContainSubstring("is v1.36.3; leave K8S out")))
	version = "v1.34.2+k3s1"
	g.Expect(Kubernetes(file, "v1.34.2")).To(Equal("v1.34.2+k3s1"))
	version = "v1.29.9"
	_, err = Kubernetes(file, "")
	g.Expect(err).To(MatchError(ContainSubstring("is v1.29.9; it must be v1.30 or later")))

	server.Close()
	_, err = Kubernetes(file, "")
	g.Expect(err).To(MatchError(And(ContainSubstring("does not answer"), ContainSubstring(server.URL))))
	_, err = Kubernetes("", "")
	g.Expect(err).To(MatchError(ContainSubstring("KUBECONFIG is not set")))
	_, err = Kubernetes(filepath.Join(t.TempDir(), "none"), "")
	g.Expect(err).To(MatchError(ContainSubstring("no such file")))
	empty := filepath.Join(t.TempDir(), "empty")
	g.Expect(os.WriteFile(empty, []byte("apiVersion: v1\nkind: Config\n"), 0o600)).To(Succeed())
	_, err = Kubernetes(empty, "")
	g.Expect(err).To(MatchError(ContainSubstring("its current context")))
}

func TestImagesThatNodesCouldNotGet(t *testing.T) {
	g := NewWithT(t)
	g.Expect(unpullable("", "registry.example/karpenter:v1")).To(BeEmpty())
	g.Expect(unpullable("", "")).To(ConsistOf(MatchError(ContainSubstring("REGISTRY=registry.example/team"))))
	g.Expect(unpullable("", "oci:build/karpenter")).To(ConsistOf(MatchError(ContainSubstring("oci:build/karpenter"))))
	g.Expect(unpullable("Not A Registry", "")).To(ConsistOf(MatchError(ContainSubstring("is no place in a registry"))))
}
