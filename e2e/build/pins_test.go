package build

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestEveryPinCanBeBuilt(t *testing.T) {
	g := NewWithT(t)
	programs := map[string][]string{}
	for _, name := range pinNames() {
		p, err := readPin(name)
		g.Expect(err).NotTo(HaveOccurred())
		programs[name] = p.programs()
		g.Expect(p.cost).NotTo(BeEmpty(), name)
		g.Expect(p.needs).NotTo(BeEmpty(), name)
		g.Expect(string(p.mod)).To(ContainSubstring("toolchain "+Toolchain+"\n"), "%s: run hack/pins/update", name)
		g.Expect(string(p.sum)).To(ContainSubstring(p.module+" "+p.version+" h1:"), name)
	}
	controlPlane := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	g.Expect(programs).To(Equal(map[string][]string{
		"etcd":             {"etcd"},
		"helm":             {"helm"},
		"kubernetes-v1.34": controlPlane,
		"kubernetes-v1.35": controlPlane,
		"kubernetes-v1.36": controlPlane,
		"kwok":             {"kwok", "kwokctl"},
	}))
}

func TestVersionsAreStamped(t *testing.T) {
	g := NewWithT(t)
	p := &pin{version: "v1.36.3", recipe: recipes()["kubernetes"]}
	g.Expect(p.ldflags()).To(And(
		HavePrefix("-s -w "),
		ContainSubstring(" -X k8s.io/component-base/version.gitVersion=v1.36.3"),
		ContainSubstring(" -X k8s.io/component-base/version.gitMajor=1 "),
		ContainSubstring(" -X k8s.io/client-go/pkg/version.gitMinor=36"),
	))
}

func TestKubernetesVersions(t *testing.T) {
	g := NewWithT(t)
	full, err := Kubernetes("1.36")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(full).To(MatchRegexp(`^v1\.36\.\d+$`))
	for _, same := range []string{"v1.36", full, full[1:]} {
		g.Expect(Kubernetes(same)).To(Equal(full), same)
	}
	for _, unknown := range []string{"1.99", "1.36.99", "1.3", "", "latest", "v1.36.3-rc.1"} {
		_, err := Kubernetes(unknown)
		g.Expect(err).To(MatchError(And(
			ContainSubstring("no Kubernetes %q here", unknown),
			ContainSubstring("1.34 (v1.34."), ContainSubstring("1.35 (v1.35."), ContainSubstring("1.36 (v1.36."),
		)), unknown)
	}
}

func TestAnUnknownPinIsAnsweredWithThoseThereAre(t *testing.T) {
	g := NewWithT(t)
	c := &Cache{Dir: t.TempDir()}
	_, err := c.Pinned(t.Context(), "kubernetes-v1.99")
	g.Expect(err).To(MatchError(ContainSubstring(
		`no pin "kubernetes-v1.99" here: there are etcd, helm, kubernetes-v1.34, kubernetes-v1.35, kubernetes-v1.36, kwok`)))
}

func TestProgramNames(t *testing.T) {
	g := NewWithT(t)
	for pkg, name := range map[string]string{
		"go.etcd.io/etcd/server/v3":            "server",
		"sigs.k8s.io/karpenter/kwok":           "kwok",
		"k8s.io/kubernetes/cmd/kube-apiserver": "kube-apiserver",
		"example.com/vault":                    "vault",
		"example.com/v":                        "v",
	} {
		g.Expect(program(pkg)).To(Equal(name))
	}
}
