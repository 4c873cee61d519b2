package install

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

// Lines from controller-runtime, klog and Karpenter v1.15.0.
const (
	reflectorLine = `E1120 11:41:07.123456   77 reflector.go:204] "Failed to watch" err="failed to list *v1.NodePool: nodepools.karpenter.sh is forbidden: User \"system:serviceaccount:kube-system:karpenter\" cannot list resource \"nodepools\" in API group \"karpenter.sh\" at the cluster scope" logger="UnhandledError"`
	jsonLine      = `{"level":"ERROR","time":"2026-11-20T11:41:07Z","logger":"controller","message":"Reconciler error","error":"pods \"a\" is forbidden: User \"x\" cannot create resource \"pods/eviction\" in API group \"\" in the namespace \"default\""}`
	statusLine    = `nodeclaims.karpenter.sh "a" is forbidden: User "x" cannot patch resource "nodeclaims/status" in API group "karpenter.sh" at the cluster scope`
	infoLine      = `{"level":"INFO","time":"2026-11-20T11:41:07Z","message":"registered nodeclaim"}`
	subnetLine    = `{"level":"ERROR","time":"2026-11-20T11:41:07Z","message":"Reconciler error","error":"no subnets found"}`
)

func TestForbiddenIn(t *testing.T) {
	for line, want := range map[string][2]string{
		reflectorLine: {"list", "nodepools.karpenter.sh"},
		jsonLine:      {"create", "pods/eviction"},
		statusLine:    {"patch", "nodeclaims.karpenter.sh/status"},
	} {
		verb, resource, ok := ForbiddenIn(line)
		NewWithT(t).Expect([2]string{verb, resource}).To(Equal(want))
		NewWithT(t).Expect(ok).To(BeTrue())
	}
	_, _, ok := ForbiddenIn(`{"message":"pod quota is forbidden by policy"}`)
	NewWithT(t).Expect(ok).To(BeFalse())
}

func TestUnexpected(t *testing.T) {
	g := NewWithT(t)
	log := []string{infoLine, subnetLine, reflectorLine, "panic: runtime error", "  goroutine 1"}
	g.Expect(unexpectedLines(log, tolerated(providers.Logs{Tolerate: []string{"no subnets found"}}))).
		To(Equal([]string{reflectorLine, "panic: runtime error"}))
	g.Expect(unexpectedLines([]string{infoLine}, tolerated(providers.Logs{}))).To(BeEmpty())
	core := `{"level":"ERROR","message":"could not schedule pod"}`
	g.Expect(unexpectedLines([]string{core, subnetLine}, tolerated(providers.Logs{}))).To(Equal([]string{subnetLine}),
		"core says it with every provider")

	i := &Installed{adapter: &providers.Adapter{
		Controller: providers.Controller{Logs: providers.Logs{Tolerate: []string{"no subnets found"}}},
	}}
	g.Expect(i.Untolerated([]string{infoLine, subnetLine, reflectorLine})).To(Equal([]string{infoLine, reflectorLine}))
}

func TestDenials(t *testing.T) {
	lines := []string{reflectorLine, reflectorLine, infoLine, jsonLine}
	NewWithT(t).Expect(countDenials(lines, nil)).
		To(Equal(map[string]int{"list on nodepools.karpenter.sh": 2, "create on pods/eviction": 1}))
	NewWithT(t).Expect(countDenials(lines, tolerated(providers.Logs{Tolerate: []string{"eviction"}}))).To(HaveLen(1))
}
