package karpenter

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	json, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestNodeClaimAccessors(t *testing.T) {
	g := NewWithT(t)
	claim := object(t, `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: c, labels: {karpenter.sh/nodepool: p}, deletionTimestamp: "2026-01-02T03:04:05Z"}
spec:
  taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]
  resources: {requests: {cpu: 1500m, pods: "3"}}
  requirements: [{key: size, operator: Gt, values: ["2"]}, {key: zone, operator: In, values: [red, blue]}]
status:
  nodeName: node-1
  providerID: kwok://n
  capacity: {cpu: "4"}
  allocatable: {cpu: 3900m}
  conditions:
  - {type: Registered, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-02T03:04:05Z", observedGeneration: 3}
  - {type: Initialized, status: Unknown, lastTransitionTime: nonsense}
`)
	g.Expect(NodeClaimNode(claim)).To(Equal("node-1"))
	g.Expect(NodeClaimProviderID(claim)).To(Equal("kwok://n"))
	g.Expect(NodePoolOf(claim)).To(Equal("p"))
	g.Expect(Deleting(claim)).To(BeTrue())
	g.Expect(Taints(claim)).
		To(Equal([]corev1.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}, {Key: "c", Effect: "NoExecute"}}))
	g.Expect(HasTaint(claim, "c")).To(BeTrue())
	g.Expect(HasTaint(claim, "b")).To(BeFalse())
	for q, want := range map[string]string{
		asText(Capacity(claim, "cpu")): "4", asText(Allocatable(claim, "cpu")): "3900m",
		asText(NodeClaimRequests(claim, "cpu")): "1500m", asText(NodeClaimRequests(claim, "memory")): "0",
	} {
		g.Expect(q).To(Equal(want))
	}

	g.Expect(NodeClaimRequired(claim, "zone")).To(Equal([]string{"red", "blue"}))
	g.Expect(NodeClaimRequired(claim, "size")).To(BeEmpty())

	c, there := Condition(claim, Registered)
	g.Expect(there).To(BeTrue())
	g.Expect(c).To(Equal(metav1.Condition{
		Type: Registered, Status: "True", Reason: "R", Message: "m", ObservedGeneration: 3,
		LastTransitionTime: metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	}))
	g.Expect(IsTrue(claim, Registered)).To(BeTrue())
	g.Expect(IsTrue(claim, Initialized)).To(BeFalse())
	g.Expect(IsTrue(claim, Drifted)).To(BeFalse())
	g.Expect(Conditions(claim)).To(HaveLen(2))
	_, there = Condition(claim, Drifted)
	g.Expect(there).To(BeFalse())
}

func asText(q resource.Quantity) string { return q.String() }

func TestNodeAccessors(t *testing.T) {
	g := NewWithT(t)
	node := object(t, `
apiVersion: v1
kind: Node
metadata: {name: n}
spec: {providerID: kwok://n, taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]}
status: {capacity: {cpu: 4}, conditions: [{type: Ready, status: "True"}], nodeInfo: {bootID: b1}}
`)
	g.Expect(BootID(node)).To(Equal("b1"))
	g.Expect(NodeReady(node)).To(BeTrue())
	g.Expect(HasTaint(node, DisruptedTaint)).To(BeTrue())
	g.Expect(NodeProviderID(node)).To(Equal("kwok://n"))
	g.Expect(asText(Capacity(node, "cpu"))).To(Equal("4"), "by hand one may write a number")
	g.Expect(NodePoolOf(node)).To(BeEmpty())
	g.Expect(Deleting(node)).To(BeFalse())
}

func TestPodAccessors(t *testing.T) {
	g := NewWithT(t)
	pod := object(t, `
apiVersion: v1
kind: Pod
metadata:
  name: app-6c7d-x1
  labels: {pod-template-hash: 6c7d}
  ownerReferences: [{kind: ReplicaSet, name: app-6c7d}]
spec: {nodeName: node-1}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
  initContainerStatuses: [{name: first, restartCount: 0}]
  containerStatuses: [{name: main, restartCount: 2, lastState: {terminated: {exitCode: 3, reason: Error}}}]
`)
	g.Expect(PodNode(pod)).To(Equal("node-1"))
	g.Expect(PodPhase(pod)).To(Equal(corev1.PodRunning))
	g.Expect(PodReady(pod)).To(BeTrue())
	containers := Containers(pod)
	g.Expect(containers).To(HaveLen(2))
	g.Expect(containers[1].Name).To(Equal("main"))
	g.Expect(containers[1].RestartCount).To(BeEquivalentTo(2))
	g.Expect(containers[1].LastTerminationState.Terminated.ExitCode).To(BeEquivalentTo(3))

	for workload, want := range map[string]bool{
		"app": true, "app-6c7d": true, "app-6c7d-x1": true, "ap": false,
		"app-6c": false, "": false,
	} {
		g.Expect(BelongsTo(pod, workload)).To(Equal(want), workload)
	}
	pod.SetLabels(nil)
	g.Expect(BelongsTo(pod, "app")).To(BeFalse(), "a ReplicaSet that no Deployment made may be called so too")
}

func TestEventAccessors(t *testing.T) {
	g := NewWithT(t)
	event := object(t, `
apiVersion: v1
kind: Event
metadata: {name: e}
reason: FailedScheduling
message: no room
source: {component: karpenter}
reportingComponent: other
involvedObject: {kind: Pod, namespace: default, name: app, uid: u}
`)
	g.Expect(EventInvolved(event)).To(Equal(Involved{"Pod", "default", "app", "u"}))
	g.Expect(EventReason(event)).To(Equal(ReasonFailedScheduling))
	g.Expect(EventMessage(event)).To(Equal("no room"))
	g.Expect(EventComponent(event)).To(Equal(EventSource))
	delete(event.Object, "source")
	g.Expect(EventComponent(event)).To(Equal("other"))
}

// Accessors return the zero value for objects whose fields are absent or have the wrong type.
func TestAccessorsOfOddObjects(t *testing.T) {
	odd := map[string]any{
		"metadata": "no", "spec": []any{1},
		"status": map[string]any{"conditions": []any{"no", nil}, "phase": 7, "capacity": map[string]any{"cpu": "much"}},
	}
	for name, o := range map[string]*unstructured.Unstructured{
		"nil": {}, "empty": {Object: map[string]any{}}, "odd": {Object: odd},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(Conditions(o)).To(BeEmpty())
			g.Expect(IsTrue(o, Ready)).To(BeFalse())
			g.Expect(Taints(o)).To(BeEmpty())
			g.Expect(HasTaint(o, "")).To(BeFalse())
			g.Expect(Containers(o)).To(BeEmpty())
			g.Expect(NodeClaimNode(o) + NodeClaimProviderID(o) + PodNode(o) + string(PodPhase(o)) + NodeProviderID(o) +
				NodePoolOf(o)).To(BeEmpty())
			g.Expect(EventInvolved(o)).To(Equal(Involved{}))
			c := Capacity(o, "cpu")
			g.Expect(c.IsZero()).To(BeTrue())
			g.Expect(Deleting(o)).To(BeFalse())
		})
	}
}

// The paths of accessors match the typed objects of Kubernetes' kinds.
func TestPathsOfTypedObjects(t *testing.T) {
	g := NewWithT(t)
	node := &corev1.Node{
		Spec:   corev1.NodeSpec{ProviderID: "p", Taints: []corev1.Taint{{Key: "k", Effect: "NoSchedule"}}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}}},
	}
	n, err := runtime.DefaultUnstructuredConverter.ToUnstructured(node)
	g.Expect(err).NotTo(HaveOccurred())
	u := &unstructured.Unstructured{Object: n}
	g.Expect(NodeReady(u)).To(BeTrue())
	g.Expect(Taints(u)).To(Equal(node.Spec.Taints))
	g.Expect(NodeProviderID(u)).To(Equal("p"))
}
