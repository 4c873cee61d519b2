package env

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// converting returns an environment whose adapter has these NodeClasses in two versions.
func converting(examples map[string]providers.NodeClassVersions) *Env {
	return &Env{place: &Place{Adapter: &providers.Adapter{
		NodeClass: providers.Object{Inline: map[string]any{
			"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass",
			"spec": map[string]any{"role": "node", "images": []any{"debian@latest"}},
		}},
		Capabilities: map[providers.Capability]providers.Support{
			providers.NodeClassConversion: {NodeClasses: examples},
		},
	}}}
}

func saying(fields map[string]any) map[string]any { return map[string]any{"spec": fields} }

func TestNodeClassesInTwoVersions(t *testing.T) {
	g := NewWithT(t)
	examples := map[string]providers.NodeClassVersions{
		"b": {
			Both:    saying(map[string]any{"disks": 2}),
			V1Beta1: saying(map[string]any{"family": "Debian", "images": nil}),
			V1:      map[string]any{"metadata": map[string]any{"annotations": map[string]any{"was": "Debian"}}},
		},
		"a": {Written: "v1", V1: saying(map[string]any{"kubelet": "x"})},
	}
	written, read := converting(examples).ConvertedNodeClasses(t.Context(), karpenter.V1Beta1)
	g.Expect(written).To(HaveLen(1), "a can't be written in v1beta1")
	g.Expect(read).To(HaveLen(1))
	older, newer := written[0].Unstructured(), read[0].Unstructured()
	g.Expect(older.GetName()).To(And(HavePrefix("b-"), Equal(newer.GetName())))
	g.Expect(older.GroupVersionKind()).
		To(Equal(schema.GroupVersionKind{Group: "acme.example", Version: "v1beta1", Kind: "AcmeNodeClass"}))
	g.Expect(older.Object["spec"]).
		To(Equal(map[string]any{"role": "node", "disks": int64(2), "family": "Debian", "images": nil}))
	g.Expect(newer.GetAPIVersion()).To(Equal("acme.example/v1"))
	g.Expect(newer.GetAnnotations()).To(Equal(map[string]string{"was": "Debian"}))
	g.Expect(newer.Object["spec"]).
		To(Equal(map[string]any{"role": "node", "disks": int64(2), "images": []any{"debian@latest"}}))

	written, read = converting(examples).ConvertedNodeClasses(t.Context(), karpenter.NodeClaims.Version)
	g.Expect(written).To(HaveLen(2))
	g.Expect(written[0].GetName()).To(HavePrefix("a-"), "they come in the order of their names")
	g.Expect(written[0].Unstructured().GetAPIVersion()).To(Equal("acme.example/v1"))
	g.Expect(read[1].Unstructured().GetAPIVersion()).To(Equal("acme.example/v1beta1"))
}

// Otherwise a spec would pass that compares nothing.
func TestNoNodeClassThatCanBeWritten(t *testing.T) {
	g := NewWithT(t)
	env := converting(map[string]providers.NodeClassVersions{"a": {Written: "v1"}})
	g.Expect(func() { env.ConvertedNodeClasses(t.Context(), karpenter.V1Beta1) }).
		To(PanicWith(HaveField("Reason", ContainSubstring("no NodeClass that can be written in v1beta1"))))
}

func TestNodeClassesAreRecordedInTheAdaptersVersion(t *testing.T) {
	g := NewWithT(t)
	env := converting(nil)
	classes := env.place.Adapter.NodeClassGVR()
	older := classes.GroupResource().WithVersion(karpenter.V1Beta1)
	g.Expect(env.recordedAs(older)).To(Equal(classes))
	g.Expect(env.recordedAs(karpenter.NodePools.GroupResource().WithVersion(karpenter.V1Beta1))).
		To(Equal(karpenter.NodePools))
	g.Expect(env.recordedAs(karpenter.Pods)).To(Equal(karpenter.Pods))
}
