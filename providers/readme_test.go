package providers

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The manual shows an adapter with everything in it: it must be a valid one,
// and leave nothing out.
func TestTheManualIsRight(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile("README.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, _ := strings.Cut(string(raw), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	g.Expect(found).To(BeTrue())

	a := loaded(t, example)
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
