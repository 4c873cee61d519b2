package kind

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestKubernetes(t *testing.T) {
	for _, c := range []struct{ asked, nodeImage, want string }{
		{"1.36", "", "v1.36.4"},
		{"v1.35", "", "v1.35.8"},
		{"1.34.11", "", "v1.34.11"},
		{"1.36", "plumbline/node:v1.36.3", "v1.36"},
		{"v1.33.1", "mine", "v1.33.1"},
	} {
		version, err := Kubernetes(c.asked, c.nodeImage)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(version).To(Equal(c.want), c.asked)
	}
	for asked, want := range map[string]string{
		"1.12":    "there are v1.36.4, v1.35.8, v1.34.11; NODE_IMAGE names one of your own",
		"1.36.99": "there are v1.36.4, v1.35.8, v1.34.11; NODE_IMAGE names one of your own",
		"newest":  "no version of Kubernetes such as 1.36 or v1.36.4",
		"1":       "no version of Kubernetes such as 1.36 or v1.36.4",
	} {
		_, err := Kubernetes(asked, "")
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), asked)
	}
	for version, image := range nodeImages() {
		NewWithT(t).Expect(image).To(MatchRegexp(`^kindest/node:` + version + `@sha256:[0-9a-f]{64}$`))
	}
}

func TestAServerIsTheVersionAskedFor(t *testing.T) {
	g := NewWithT(t)
	g.Expect(matchesVersion("v1.36.3", "v1.36.3")).To(BeTrue())
	g.Expect(matchesVersion("v1.36.3", "v1.36")).To(BeTrue())
	g.Expect(matchesVersion("v1.36.4", "v1.36.3")).To(BeFalse())
	g.Expect(matchesVersion("v1.35.8", "v1.36")).To(BeFalse())
}
