package schema

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/karpenter/pkg/apis"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// shipped returns Karpenter's CRDs of NodePools and NodeClaims.
func shipped(t *testing.T) []lie.CRD {
	t.Helper()
	var crds []lie.CRD
	for _, crd := range apis.CRDs {
		if crd.Name != "nodepools.karpenter.sh" && crd.Name != "nodeclaims.karpenter.sh" {
			continue
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			t.Fatal(err)
		}
		crds = append(crds, content)
	}
	if len(crds) != 2 {
		t.Fatalf("Karpenter's CRDs have %d of the two", len(crds))
	}
	return crds
}

func TestEveryLieRewritesSomething(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(Lies())) {
		changed := 0
		for _, crd := range shipped(t) {
			rewritten := runtime.DeepCopyJSON(crd)
			Lies()[name].CRD(rewritten)
			if !equality.Semantic.DeepEqual(crd, rewritten) {
				changed++
			}
			if version(rewritten)["schema"] == nil {
				t.Errorf("%s leaves no schema", name)
			}
		}
		if changed == 0 {
			t.Errorf("%s ships the CRDs as they are", name)
		}
	}
}

func TestWalkComesToEveryPart(t *testing.T) {
	found := map[any]bool{}
	walk(node{
		"type":       "object",
		"properties": node{"list": node{"type": "array", "items": node{"type": "string"}}},
		"additionalProperties": node{
			"type": "integer",
		},
	}, func(s node) { found[s["type"]] = true })
	for _, kind := range []string{"object", "array", "string", "integer"} {
		if !found[kind] {
			t.Errorf("no %s was found", kind)
		}
	}
}
