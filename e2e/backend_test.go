package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestOnlyTheTableNamesBackends: other code must not ask for a backend by name, because it
// would have to change for a new one. What a backend can do is a field of cluster.Backend.
func TestOnlyTheTableNamesBackends(t *testing.T) {
	g := NewWithT(t)
	var names []string
	for _, b := range backends() {
		names = append(names, b.Name)
	}
	name := "(" + strings.Join(names, "|") + ")"
	named := `CLUSTER=` + name + `\b|"CLUSTER", *"|e2e/cluster/` + name + `"|([=!]= *|case )"` + name + `"`
	files := 0
	g.Expect(filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "cluster":
			return filepath.SkipDir // the backends themselves
		case path == "backend.go" || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		g.Expect(string(text)).NotTo(MatchRegexp(named), path)
		return err
	})).To(Succeed())
	g.Expect(files).To(BeNumerically(">", 50))
}
