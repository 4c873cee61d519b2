package providers

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRightsThatAreNone(t *testing.T) {
	s := &Simulator{Rights: []map[string]any{{"apiGroups": []any{""}, "resource": []any{"pods"}}}}
	_, err := s.Rules()
	NewWithT(t).Expect(err).
		To(MatchError(And(ContainSubstring("rights[0] is not an RBAC rule"), ContainSubstring("resource"))))
}
