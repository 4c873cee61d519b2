package env

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAConditionIsDatedBack(t *testing.T) {
	g := NewWithT(t)
	o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Launched", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z"},
		map[string]any{"type": "Registered", "status": "Unknown", "lastTransitionTime": "2026-01-01T12:00:05Z"},
	}}}}
	g.Expect(dateBack(o, "Registered", 14*time.Minute)).To(Succeed())
	g.Expect(o.Object).To(HaveKeyWithValue("status", HaveKeyWithValue("conditions", ConsistOf(
		HaveKeyWithValue("lastTransitionTime", "2026-01-01T12:00:00Z"),
		And(HaveKeyWithValue("lastTransitionTime", "2026-01-01T11:46:05Z"), HaveKeyWithValue("status", "Unknown"))))))
	g.Expect(dateBack(o, "Ready", time.Minute)).To(MatchError("it has no condition Ready"))
}
