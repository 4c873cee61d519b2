package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestSince(t *testing.T) {
	g := NewWithT(t)
	spec := &Spec{Since: Since{Karpenter: "1.7", Kubernetes: "1.35"}}
	g.Expect(spec.Since.missingIn("v1.6.9", "v1.36.3")).To(Equal("promised since Karpenter 1.7; this is v1.6.9"))
	g.Expect(spec.Since.missingIn("v1.7.0", "v1.34.4")).To(Equal("promised since Kubernetes 1.35; this is v1.34.4"))
	g.Expect(spec.Since.missingIn("v1.7.0", "v1.35.0")).To(BeEmpty())
	g.Expect(goneIn("1.1", "v1.0.8")).To(BeEmpty())
	g.Expect(goneIn("", "v1.15.0")).To(BeEmpty())
	g.Expect(goneIn("1.1", "v1.1.0")).To(Equal("promised before Karpenter 1.1; this is v1.1.0"))
	g.Expect(goneIn("1.1", "main")).NotTo(BeEmpty())
	g.Expect(spec.Since.missingIn("main", "v1.35.0")).To(BeEmpty(), "a release that is no version is taken for a new one")
}
