package build

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestASealedCacheSaysWhatItWasAsked(t *testing.T) {
	g := NewWithT(t)
	fakeGo(t, buildsEtcd)
	c := &Cache{Dir: t.TempDir()}
	_, err := c.Pinned(t.Context(), "etcd")
	g.Expect(err).NotTo(HaveOccurred())
	version, err := c.Resolve(t.Context(), "example.com/m", "v1.2.3") // takes no question
	g.Expect(err).NotTo(HaveOccurred())
	chart := filepath.Join(t.TempDir(), "chart.tgz")
	g.Expect(os.WriteFile(chart, []byte("chart"), 0o600)).To(Succeed())
	_, err = c.Keep("chart oci://registry.example/chart 1.2.3", func() (string, error) { return chart, nil })
	g.Expect(err).NotTo(HaveOccurred())

	files, content, err := Seal(c)
	g.Expect(err).NotTo(HaveOccurred())
	sealed := t.TempDir()
	for name, from := range files {
		raw, err := os.ReadFile(from)
		g.Expect(err).NotTo(HaveOccurred())
		write(t, filepath.Join(sealed, name), string(raw))
	}
	for name, raw := range content {
		write(t, filepath.Join(sealed, name), string(raw))
	}

	// On another machine there is neither Go nor that cache.
	t.Setenv("PATH", t.TempDir())
	t.Setenv(SealedVariable, sealed)
	elsewhere := &Cache{Dir: t.TempDir()}
	dir, err := elsewhere.Pinned(t.Context(), "etcd")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadFile(filepath.Join(dir, "etcd"))).To(BeEquivalentTo("program\n"))
	g.Expect(elsewhere.Keep("chart oci://registry.example/chart 1.2.3", nil)).To(HavePrefix(sealed))
	g.Expect(elsewhere.Resolve(t.Context(), "example.com/m", "v1.2.3")).To(Equal(version))
	g.Expect(os.ReadDir(elsewhere.Dir)).To(BeEmpty())

	_, err = elsewhere.Pinned(t.Context(), "helm")
	g.Expect(err).To(MatchError(And(ContainSubstring("has no pin helm linux"), ContainSubstring("another selection"))))
	t.Setenv(SealedVariable, t.TempDir())
	_, err = elsewhere.Pinned(t.Context(), "etcd")
	g.Expect(err).To(MatchError(ContainSubstring("is no sealed cache")))
}

func TestASealedModuleHasWhatRunsRead(t *testing.T) {
	g := NewWithT(t)
	c := &Cache{}
	module := t.TempDir()
	for _, name := range []string{"go.mod", "main.go", "charts/x/Chart.yaml", "docs/picture.png"} {
		write(t, filepath.Join(module, name), name)
	}
	_, err := c.ask(func() (answer, error) { return answer{Path: module}, nil }, askModule, "example.com/m", "v1.2.3")
	g.Expect(err).NotTo(HaveOccurred())
	files, _, err := Seal(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(Equal(map[string]string{
		"module/example.com/m@v1.2.3/go.mod":              filepath.Join(module, "go.mod"),
		"module/example.com/m@v1.2.3/charts/x/Chart.yaml": filepath.Join(module, "charts/x/Chart.yaml"),
	}))
}

// write writes a file, and makes its folder.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
