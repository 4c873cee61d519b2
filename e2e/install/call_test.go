package install

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestHooksAreCalled(t *testing.T) {
	g := NewWithT(t)
	simulator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/ice" {
			http.Error(w, "no such verb", http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+string(body))
	}))
	defer simulator.Close()
	at, err := netip.ParseAddrPort(strings.TrimPrefix(simulator.URL, "http://"))
	g.Expect(err).NotTo(HaveOccurred())
	i := &Installed{
		simulator: running(at),
		adapter: &providers.Adapter{Name: "acme", Hooks: map[providers.HookName]providers.Hook{
			providers.FailNextLaunch:    {HTTP: &providers.HTTPCall{Post: "/ice?n={{.Count}}", Body: "{{.Nonce}}"}},
			providers.ClearFailures:     {HTTP: &providers.HTTPCall{Delete: "/nothing"}},
			providers.ListInstances:     {Exec: []string{"echo", "-n", "{{.ProviderID}}"}},
			providers.TerminateInstance: {Exec: []string{"sh", "-c", "echo broken >&2; exit 3"}},
		}},
	}
	values := providers.HookValues{Count: 2, Nonce: "x1", ProviderID: "acme://7"}

	answer, err := i.Call(t.Context(), providers.FailNextLaunch, values)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(answer)).To(Equal("POST /ice?n=2 x1"))

	answer, err = i.Call(t.Context(), providers.ListInstances, values)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(answer)).To(Equal("acme://7"))

	_, err = i.Call(t.Context(), providers.ClearFailures, values)
	g.Expect(err).To(MatchError(ContainSubstring("hook clearFailures of acme: DELETE " + simulator.URL +
		"/nothing: 404 Not Found: no such verb")))
	_, err = i.Call(t.Context(), providers.TerminateInstance, values)
	g.Expect(err).To(MatchError(ContainSubstring("exit status 3: broken")))
	_, err = i.Call(t.Context(), providers.NodeLabels, values)
	g.Expect(err).To(MatchError(ErrNoHook))
}

// running returns a simulator whose pod has this address of the host.
func running(at netip.AddrPort) *simulator {
	pod := &corev1.Pod{}
	pod.Status.PodIP = at.Addr().String()
	return &simulator{clients: &clients{}, pod: pod, port: int(at.Port()), address: at.String()}
}

func TestAHookPatchesTheNodeClass(t *testing.T) {
	g := NewWithT(t)
	a := providers.Named("kwok")
	fake := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), a.NodeClassObject("mine"))
	i := &Installed{adapter: a, clients: &clients{dynamic: fake}}
	_, err := i.Call(t.Context(), providers.UnreadyNodeClass, providers.HookValues{NodeClass: "mine"})
	g.Expect(err).NotTo(HaveOccurred())
	o, err := fake.Resource(a.NodeClassGVR()).Get(t.Context(), "mine", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	g.Expect(conditions).To(ConsistOf(HaveKeyWithValue("status", "False")))
}

func TestInstancesAreAListOfProviderIDs(t *testing.T) {
	g := NewWithT(t)
	cloud := func(answer string) *Installed {
		return &Installed{adapter: &providers.Adapter{
			Name:  "a",
			Hooks: map[providers.HookName]providers.Hook{providers.ListInstances: {Exec: []string{"echo", answer}}},
		}}
	}
	g.Expect(cloud(`["i-1","i-2"]`).Instances(t.Context(), providers.HookValues{})).To(Equal([]string{"i-1", "i-2"}))
	g.Expect(cloud(`[]`).Instances(t.Context(), providers.HookValues{})).To(BeEmpty())
	_, err := cloud(`i-1`).Instances(t.Context(), providers.HookValues{})
	g.Expect(err).To(MatchError(ContainSubstring("no JSON list of provider IDs")))
	_, err = (&Installed{adapter: &providers.Adapter{Name: "a"}}).Instances(t.Context(), providers.HookValues{})
	g.Expect(err).To(MatchError(ErrNoHook))
}

func TestAHookPatchesANode(t *testing.T) {
	g := NewWithT(t)
	fake := kubefake.NewClientset(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	})
	i := &Installed{
		adapter: &providers.Adapter{
			Name: "acme", Hooks: map[providers.HookName]providers.Hook{providers.Interrupt: {
				Subresource: "status",
				PatchNode: map[string]any{"status": map[string]any{"conditions": []any{
					map[string]any{"type": "Preempted", "status": "True", "message": "{{.ProviderID}}"},
				}}},
			}},
		},
		clients: &clients{typed: fake},
	}
	answer, err := i.Call(t.Context(), providers.Interrupt, providers.HookValues{NodeName: "n1", ProviderID: "acme://7"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(answer)).To(ContainSubstring("acme://7"))
	node, err := fake.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(node.Status.Conditions).To(ConsistOf(
		HaveField("Type", corev1.NodeReady), HaveField("Message", "acme://7")), "the others stay")
	g.Expect(fake.Actions()[0].GetSubresource()).To(Equal("status"))

	_, err = i.Call(t.Context(), providers.Interrupt, providers.HookValues{})
	g.Expect(err).To(MatchError(ContainSubstring("patchNode: the hook is called for no node")))
	_, err = i.Call(t.Context(), providers.Interrupt, providers.HookValues{NodeName: "n2"})
	g.Expect(err).To(MatchError(ContainSubstring("patching the node n2")))
}

func TestAHookRemovesANode(t *testing.T) {
	g := NewWithT(t)
	fake := kubefake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Finalizers: []string{"karpenter.sh/termination"}}})
	i := &Installed{
		adapter: &providers.Adapter{
			Name:  "acme",
			Hooks: map[providers.HookName]providers.Hook{providers.TerminateInstance: {RemoveNode: true}},
		},
		clients: &clients{typed: fake},
	}
	_, err := i.Call(t.Context(), providers.TerminateInstance, providers.HookValues{NodeName: "n1"})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = fake.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	_, err = i.Call(t.Context(), providers.TerminateInstance, providers.HookValues{NodeName: "n2"})
	g.Expect(err).To(MatchError(ContainSubstring("n2")))
}

func TestAHookRemovesANodeThatIsBeingDeleted(t *testing.T) {
	fake := kubefake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	fake.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		// The API server removes the node with its last finalizer.
		return true, &corev1.Node{}, fake.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("nodes"), "", "n1")
	})
	i := &Installed{clients: &clients{typed: fake}}
	NewWithT(t).Expect(i.removeNode(t.Context(), "n1")).To(Succeed())
}

func TestAHookPatchesTheNodeClaimOfItsNode(t *testing.T) {
	g := NewWithT(t)
	object := func(name, node string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": map[string]any{"name": name},
			"status": map[string]any{"nodeName": node, "imageID": "new", "providerID": "acme://7"},
		}}
	}
	kinds := map[schema.GroupVersionResource]string{karpenter.NodeClaims: "NodeClaimList"}
	fake := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds,
		object("c1", "n1"), object("c2", "n2"), object("c3", ""))
	i := &Installed{
		adapter: &providers.Adapter{Name: "acme", Drifts: map[string]providers.Hook{"ImageDrift": {
			Subresource: "status", PatchNodeClaim: map[string]any{"status": map[string]any{"imageID": "old"}},
		}}},
		clients: &clients{dynamic: fake},
	}
	_, err := i.Drift(t.Context(), "ImageDrift", providers.HookValues{NodeName: "n2"})
	g.Expect(err).NotTo(HaveOccurred())
	for name, want := range map[string]string{"c1": "new", "c2": "old", "c3": "new"} {
		c, err := fake.Resource(karpenter.NodeClaims).Get(t.Context(), name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(c.Object["status"]).To(And(HaveKeyWithValue("imageID", want), HaveKey("providerID")))
	}
	for _, none := range []string{"n3", ""} {
		_, err = i.Drift(t.Context(), "ImageDrift", providers.HookValues{NodeName: none})
		g.Expect(err).To(MatchError(ContainSubstring("no NodeClaim has the node " + strconv.Quote(none))))
	}
}
