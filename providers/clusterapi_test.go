package providers

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// The Cluster API provider is on no proxy, so its adapters are not built in: they need a clone beside this repository.
func TestTheAdaptersOfClusterAPINeedOnlyAClone(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write := func(file, content string) string {
		path := filepath.Join(dir, file)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		return path
	}
	adapters := []string{
		write("plumbline/providers/clusterapi/adapter.yaml", text(t, "clusterapi/adapter.yaml")),
		write("plumbline/providers/clusterapi/management.yaml", text(t, "clusterapi/management.yaml")),
		write("plumbline/providers/clusterapi/same-types.yaml", text(t, "clusterapi/same-types.yaml")),
	}
	g.Expect(Load(adapters[0]).Validate()).
		To(MatchError(ContainSubstring("karpenter-provider-cluster-api holds no go.mod")))
	write("karpenter-provider-cluster-api/go.mod", "")
	write("karpenter-provider-cluster-api/charts/karpenter/Chart.yaml", "")
	for _, adapter := range adapters {
		g.Expect(Load(adapter).Validate()).To(Succeed())
	}
}
