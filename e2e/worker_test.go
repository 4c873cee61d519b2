package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheCommandThatRunsASpecAgain(t *testing.T) {
	g := NewWithT(t)
	g.Expect(again("make e2e K8S=1.35", "TestConformance", "^x$")).To(Equal("make e2e K8S=1.35 FOCUS='^x$'"))
	g.Expect(again("", "TestConformance", "^x$")).To(Equal("FOCUS='^x$' go test -count=1 -timeout=0 -run '^TestConformance$'"))
}
