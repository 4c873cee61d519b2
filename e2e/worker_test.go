package e2e

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestTheCommandThatRunsASpecAgain(t *testing.T) {
	g := NewWithT(t)
	o := report.Outcome{ID: "drift/one-to-one"}
	g.Expect(rerunCommand("make e2e K8S=1.35", "TestConformance", o)).
		To(Equal("make e2e K8S=1.35 FOCUS=^drift/one-to-one$"))
	g.Expect(rerunCommand("", "TestConformance", o)).
		To(Equal("FOCUS=^drift/one-to-one$ go test -count=1 -timeout=0 -run '^TestConformance$'"))
}
