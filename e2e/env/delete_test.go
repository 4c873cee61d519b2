package env

import (
	"context"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestWhoDeletesInTheForegroundHasToSaySo(t *testing.T) {
	g := NewWithT(t)
	reason := func(f Failure) string { return f.Reason }
	alive := &Place{Death: func() error { return nil }}
	quiet := &Env{place: alive}
	said := &Env{place: alive, foreground: true}
	for _, deletes := range []func(*Env){
		func(e *Env) { e.DeleteInForeground(t.Context()) },
		func(e *Env) { e.RemoveInForeground(t.Context()) },
	} {
		g.Expect(func() { deletes(quiet) }).
			To(PanicWith(WithTransform(reason, ContainSubstring("the spec doesn't say Foreground"))))
		g.Expect(func() { deletes(said) }).NotTo(Panic())
	}
}

// recordedEvents is a recording that has the Events that were created.
type recordedEvents struct {
	Recording
	events []history.Event
}

func (r *recordedEvents) Complete(context.Context) (*history.History, error) {
	return history.New(r.events, nil), nil
}

func (r *recordedEvents) record(event *unstructured.Unstructured) error {
	event.SetName(event.GetGenerateName() + "1")
	event.SetNamespace(metav1.NamespaceDefault)
	raw, err := event.MarshalJSON()
	if err != nil {
		return err
	}
	o, err := history.NewObject(raw)
	r.events = append(r.events, history.Event{Type: watch.Added, Resource: karpenter.Events, Object: o})
	return err
}

func TestDeletionsOfNodesAndNodeClaimsAreReportedBeforehand(t *testing.T) {
	g := NewWithT(t)
	recorder, done := &recordedEvents{}, []string(nil)
	client := fake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create, is := a.(clienttesting.CreateAction)
		if !is {
			done = append(done, a.GetVerb()+" "+a.GetResource().Resource)
			return true, nil, nil
		}
		event := create.GetObject().(*unstructured.Unstructured)
		about := karpenter.EventInvolved(event)
		done = append(done, fmt.Sprintf("report %s of %s %s", karpenter.EventReason(event), about.Kind, about.Name))
		return true, event, recorder.record(event)
	})
	e := &Env{place: &Place{Client: client}, recorder: recorder}
	betaNodeClaims := karpenter.NodeClaims.GroupResource().WithVersion(karpenter.V1Beta1)
	for _, ref := range []reference{
		{kind: karpenter.NodePools, name: "p"},
		{kind: karpenter.Nodes, name: "n"},
		{kind: karpenter.NodeClaims, name: "c"},
		{kind: betaNodeClaims, name: "b"},
	} {
		g.Expect(e.deleteOne(t.Context(), ref, metav1.DeletePropagationBackground)).To(Succeed())
	}
	g.Expect(done).To(Equal([]string{
		"delete nodepools",
		"report Deleted of Node n", "delete nodes",
		"report Deleted of NodeClaim c", "delete nodeclaims",
		"report Deleted of NodeClaim b", "delete nodeclaims",
	}))
}
