package main

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/install"
)

func TestCheckTellsWhatWouldRun(t *testing.T) {
	f := e2e.Forecast{
		Run: 300, Known: 2, Skipped: []e2e.Skip{
			{Reason: "acme has no zones", IDs: []string{"cloud/zone", "drift/zone"}}, {Reason: "no hook", IDs: []string{"a/b"}},
		},
		Provider: install.Found{CRDs: []string{"one", "two"}, Objects: 9, Deployment: "kube-system/acme"},
	}
	told := func(ids bool) string {
		var b strings.Builder
		tell(&b, f, ids)
		return b.String()
	}
	g := NewWithT(t)
	g.Expect(told(false)).To(Equal(`300 specs would run, 2 of them known to fail; 3 would be skipped
–   2 skipped: acme has no zones
–   1 skipped: no hook
`))
	g.Expect(told(true)).To(ContainSubstring("acme has no zones\n      cloud/zone\n      drift/zone\n"))
	g.Expect(describe("acme", f)).To(Equal(
		"acme: an unknown release of Karpenter, 2 CRDs, 9 objects in the manifests, Deployment kube-system/acme"))
	f.Provider.Core = "v1.15.0"
	g.Expect(describe("acme", f)).To(HavePrefix("acme: Karpenter v1.15.0, "))
}

func TestHelpOfACommandIsNoMistake(t *testing.T) {
	g := NewWithT(t)
	g.Expect(dispatch(t.Context(), []string{"check", "-help"})).To(Succeed())
	g.Expect(dispatch(t.Context(), []string{"check", "-nonsense"})).To(MatchError(ContainSubstring("nonsense")))
	g.Expect(dispatch(t.Context(), []string{"check", "acme.yaml"})).To(MatchError(ContainSubstring("chosen by PROVIDER")))
}
