package env

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

func TestAWorkloadMayBeInANamespaceThatTheSpecCreated(t *testing.T) {
	g := NewWithT(t)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	e := &Env{place: &Place{Namespace: "specs", Mapper: mapper}}
	reference := func(o fixtures.Object) reference {
		ref, err := e.refer(o.Unstructured())
		g.Expect(err).NotTo(HaveOccurred())
		return ref
	}
	space, home := fixtures.Namespace(), fixtures.Pod()
	guest := fixtures.Pod().In(space)

	g.Expect(reference(home).namespace).To(Equal("specs"))
	g.Expect(reference(guest).namespace).To(Equal(space.GetName()))
	g.Expect(reference(space).namespace).To(BeEmpty())

	pod := func(namespace string) *history.Object {
		return &history.Object{Namespace: namespace, Name: "pod"}
	}
	g.Expect(e.isOfSpec(pod("specs"))).To(BeTrue())
	g.Expect(e.isOfSpec(pod(space.GetName()))).To(BeFalse(), "it isn't created yet")
	e.created = append(e.created, reference(space))
	g.Expect(e.isOfSpec(pod(space.GetName()))).To(BeTrue())
	g.Expect(e.isOfSpec(pod("kube-system"))).To(BeFalse())
}
