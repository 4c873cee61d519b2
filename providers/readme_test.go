package providers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// examples are the adapters that a manual shows.
func examples(t *testing.T, manual string) []string {
	t.Helper()
	raw, err := os.ReadFile(manual)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var all []string
	for _, block := range strings.Split(string(raw), "```yaml\n")[1:] {
		example, _, ended := strings.Cut(block, "```")
		NewWithT(t).Expect(ended).To(BeTrue())
		if !strings.HasPrefix(example, "on:") { // a workflow
			all = append(all, example)
		}
	}
	return all
}

// The manual begins with an adapter that must have every field.
func TestTheManualIsComplete(t *testing.T) {
	g := NewWithT(t)
	a := loaded(t, examples(t, "README.md")[0])
	g.Expect(a.Validate()).To(Succeed())
	for _, c := range Capabilities() {
		g.Expect(a.Capabilities).To(HaveKey(c))
	}
	for _, h := range HookNames() {
		g.Expect(a.Hooks).To(HaveKey(h))
	}
	g.Expect(a.Controller.Ready.Within().String()).To(Equal("1m30s"))
	g.Expect(a.KnownFailures).To(HaveLen(1))
	g.Expect(a.NodeClassGVR().Resource).To(Equal("acmenodeclasses"))
}

func TestEveryAdapterOfTheManualsIsValid(t *testing.T) {
	for manual, count := range map[string]int{"README.md": 7, "../README.md": 2} {
		texts := examples(t, manual)
		NewWithT(t).Expect(texts).To(HaveLen(count), manual)
		for _, text := range texts {
			name, _, _ := strings.Cut(text, "\n")
			t.Run(manual+"/"+name, func(t *testing.T) {
				g := NewWithT(t)
				a := loaded(t, text)
				if strings.Contains(text, "base: ./adapter.yaml") { // whose own text is loaded's
					inFiles(t, map[string]string{"adapter.yaml": good, "second.yaml": text})
					a = Load("second.yaml")
				}
				for _, file := range []string{
					"karpenter/go.mod", "karpenter/kwok/charts/Chart.yaml", "karpenter/kwok/apis/crds/a.yaml",
					"karpenter/pkg/apis/crds/a.yaml", "karpenter-provider-aws/go.mod",
				} {
					beside := filepath.Join("..", file)
					g.Expect(os.MkdirAll(filepath.Dir(beside), 0o700)).To(Succeed())
					g.Expect(os.WriteFile(beside, nil, 0o600)).To(Succeed())
				}
				g.Expect(a.Validate()).To(Succeed())
			})
		}
	}
}
