package env

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

func requirement(key string, values ...any) map[string]any {
	return map[string]any{"key": key, "operator": "In", "values": values}
}

func TestBelow(t *testing.T) {
	template := map[string]any{
		"nodeClassRef": map[string]any{"group": "g", "kind": "k"},
		"requirements": []any{requirement("arch", "amd64"), requirement("os", "linux")},
		"expireAfter":  "Never",
	}
	for name, c := range map[string]struct{ own, want map[string]any }{
		"nothing of its own": {map[string]any{}, template},
		"its own value wins": {
			map[string]any{"expireAfter": "30s"},
			map[string]any{
				"nodeClassRef": template["nodeClassRef"], "requirements": template["requirements"],
				"expireAfter": "30s",
			},
		},
		"maps are merged": {
			map[string]any{"nodeClassRef": map[string]any{"name": "n"}},
			map[string]any{
				"nodeClassRef": map[string]any{"group": "g", "kind": "k", "name": "n"},
				"requirements": template["requirements"], "expireAfter": "Never",
			},
		},
		"requirements by key": {
			map[string]any{"requirements": []any{requirement("arch", "arm64")}},
			map[string]any{
				"nodeClassRef": template["nodeClassRef"],
				"requirements": []any{requirement("arch", "arm64"), requirement("os", "linux")}, "expireAfter": "Never",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(mergeDefaults(template, c.own)).To(Equal(c.want))
		})
	}
	NewWithT(t).Expect(template["expireAfter"]).To(Equal("Never"), "the template itself never changes")
}

// The CRDs require the list of requirements, not that there is one in it.
func TestThereAreRequirementsIfOnlyNone(t *testing.T) {
	g := NewWithT(t)
	env := &Env{place: &Place{Adapter: &providers.Adapter{}}}
	pool := fixtures.RawNodePool().Write("spec.template.spec.nodeClassRef", "{group: g, kind: k, name: n}")
	list, there, err := unstructured.NestedSlice(env.complete(t.Context(), pool.Unstructured()).Object,
		"spec", "template", "spec", "requirements")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(there).To(BeTrue())
	g.Expect(list).To(BeEmpty())
}

func TestWhatTheAdapterGivesToNodePoolsAndNodeClaims(t *testing.T) {
	labels := func(key string) map[string]any { return map[string]any{"labels": map[string]any{key: "a"}} }
	both := map[string]any{"labels": map[string]any{"pool": "a", "claim": "a"}}
	a := &providers.Adapter{
		NodePool: providers.Object{Inline: map[string]any{"spec": map[string]any{
			"weight": int64(1), "template": map[string]any{
				"metadata": labels("pool"), "spec": map[string]any{"requirements": []any{requirement("arch", "amd64")}},
			},
		}}},
		NodeClaim: providers.Object{Inline: map[string]any{
			"metadata": labels("claim"), "spec": map[string]any{"requirements": []any{requirement("type", "large")}},
		}},
	}
	requirements := []any{requirement("type", "large"), requirement("arch", "amd64")}
	pool, static := fixtures.NodePool().Unstructured(), fixtures.NodePool().Replicas(1).Unstructured()

	g := NewWithT(t)
	g.Expect(defaults(a, pool)).To(Equal(map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": a.NodePool.Inline["spec"],
	}))
	g.Expect(defaults(a, static)).To(Equal(map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": map[string]any{
			"weight": int64(1), "template": map[string]any{
				"metadata": both, "spec": map[string]any{"requirements": requirements},
			},
		},
	}))
	g.Expect(defaults(a, fixtures.NodeClaim().Unstructured())).To(Equal(map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": both,
		"spec": map[string]any{"requirements": requirements},
	}))
}

// gpu-provisioner, the strictest known provider, names an Azure agent pool after its
// NodeClaim.
func TestNamesFollowTheStrictestProvider(t *testing.T) {
	g := NewWithT(t)
	rules := providers.NameRules{Max: 11, Pattern: "[a-z][a-z0-9]*"}
	for range 100 {
		for _, object := range []fixtures.Object{
			fixtures.NodePool(), fixtures.NodeClaim(), fixtures.RawNodePool(), fixtures.RawNodeClaim(),
		} {
			g.Expect(rules.Accept(object.GetName())).To(Succeed())
		}
	}
}

func TestAnObjectOfAnotherNameIsNotCreated(t *testing.T) {
	g := NewWithT(t)
	env := &Env{place: &Place{
		Adapter: &providers.Adapter{Names: providers.NameRules{Max: 11}}, Death: func() error { return nil },
	}}
	mine := fixtures.Existing("karpenter.sh/v1", "NodeClaim", "one-of-my-own").Unstructured()
	reason := func(f Failure) string { return f.Reason }
	g.Expect(func() { env.complete(t.Context(), mine) }).To(PanicWith(WithTransform(reason,
		Equal("NodeClaim: the name one-of-my-own has 13 characters, and the adapter's `names` accepts at most 11"))))
}

func TestNullsAreNotWritten(t *testing.T) {
	fields := map[string]any{
		"a": nil, "b": map[string]any{"c": nil, "d": int64(0)}, "e": []any{nil}, "f": map[string]any{},
	}
	withoutNulls(fields)
	NewWithT(t).Expect(fields).
		To(Equal(map[string]any{"b": map[string]any{"d": int64(0)}, "e": []any{nil}, "f": map[string]any{}}))
}
