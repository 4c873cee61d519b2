package spread

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// The examples for other systems start what the Job's pods start, and mention nothing that the image lacks.
func TestExamplesRunTheImageAsPodsDo(t *testing.T) {
	g := NewWithT(t)
	const folder = "../../examples"
	files, err := filepath.Glob(filepath.Join(folder, "*.y*ml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty())
	list, err := os.ReadFile(filepath.Join(folder, "README.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		name := filepath.Base(file)
		g.Expect(string(list)).To(ContainSubstring("("+name+")"), "the table lacks it")
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		var content any
		g.Expect(yaml.UnmarshalStrict(raw, &content)).To(Succeed(), name)
		text := strings.Join(strings.Fields(string(raw)), " ")
		g.Expect(text).To(And(
			ContainSubstring(Tests), ContainSubstring("-test.run"), ContainSubstring("^TestConformance$"),
			ContainSubstring("SHARD"), ContainSubstring("ARTIFACTS"), ContainSubstring("merge"),
			MatchRegexp(`@sha256:0{64}\b`),
		), name)
		for _, path := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" []\"'", r) }) {
			if strings.HasPrefix(path, "/plumbline/") {
				g.Expect(path).To(BeElementOf(Program, Tests), name)
			}
		}
	}
}
