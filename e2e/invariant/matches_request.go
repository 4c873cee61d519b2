package invariant

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// matchesRequest checks that a provider launches what it was asked for. Karpenter places pods
// by a NodeClaim's requirements and requests. On other instances they stay pending, or run
// where they must not:
//
//   - A registered node has the labels that its NodeClaim requires (spec.requirements), with
//     an allowed value.
//   - The instance can hold its NodeClaim's requests (spec.resources.requests), by
//     status.allocatable of the NodeClaim, and of the node once it is initialized.
//   - An initialized node has at least 90 % of its NodeClaim's status.capacity, of each
//     requested resource. Until then Karpenter places pods by that capacity, and reports such
//     a node.
//
// A missing label breaks only the operator In. For other operators the provider may have no
// value. Beta labels are left out, because Karpenter translates them.
func matchesRequest() Invariant {
	return Invariant{
		Name: "instances match what their NodeClaims request",
		Source: "NodeClaim spec.requirements and spec.resources; " +
			"Karpenter: pkg/cloudprovider/types.go, Create; pkg/controllers/nodeclaim/consistency/nodeshape.go",
		Untested: "nothing was launched or registered for a NodeClaim that asks for anything",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims},
		New:      func(Params) check.Monitor { return &requestMonitor{newNodeIndex()} },
	}
}

type requestMonitor struct{ nodeIndex }

func (r *requestMonitor) Observe(m *check.Moment) {
	r.nodeIndex.observe(m)
	if m.Event == nil || m.Deleted() {
		return
	}
	node, nodeClaim := r.pair(m)
	ofNode := m.Resource() == karpenter.Nodes
	switch {
	case nodeClaim == nil:
	case !ofNode && becomesTrue(m, karpenter.Launched):
		judgeRoom(m, nodeClaim, nodeClaim)
	case !ofNode && becomesTrue(m, karpenter.Initialized):
		judgeCapacity(m, nodeClaim, node)
	case ofNode && becomesLabeled(m, karpenter.RegisteredLabel):
		judgeLabels(m, nodeClaim, node)
	case ofNode && becomesLabeled(m, karpenter.InitializedLabel):
		judgeRoom(m, nodeClaim, node)
	}
}

func requestsOf(nodeClaim *history.Object) any {
	return fieldAt(nodeClaim.Unstructured(), "spec", "resources", "requests")
}

// judgeRoom judges whether the requests fit in the allocatable of the NodeClaim or its node.
func judgeRoom(m *check.Moment, nodeClaim, holder *history.Object) {
	requests := quantities(requestsOf(nodeClaim))
	room := quantities(fieldAt(holder.Unstructured(), "status", "allocatable"))
	if len(room) == 0 {
		return
	}
	for _, resource := range slices.Sorted(maps.Keys(requests)) {
		want, has := requests[resource], room[resource]
		m.Tested()
		if want.Cmp(has) > 0 {
			m.Suspect("NodeClaim %s was made for pods that request %s of %s, and %s %s has %s allocatable",
				nodeClaim, &want, resource, holder.Unstructured().GetKind(), holder, &has)
			return
		}
	}
}

// judgeCapacity judges whether a node, which may be nil, has the capacity of its NodeClaim.
func judgeCapacity(m *check.Moment, nodeClaim, node *history.Object) {
	if node == nil || isDeleting(nodeClaim) {
		return
	}
	requests := quantities(requestsOf(nodeClaim))
	promised := quantities(fieldAt(nodeClaim.Unstructured(), "status", "capacity"))
	actual := quantities(fieldAt(node.Unstructured(), "status", "capacity"))
	for _, resource := range slices.Sorted(maps.Keys(requests)) {
		request, said, has := requests[resource], promised[resource], actual[resource]
		if request.IsZero() || said.IsZero() {
			continue
		}
		m.Tested()
		nineTimes, tenTimes := said.DeepCopy(), has.DeepCopy()
		nineTimes.Mul(9)
		tenTimes.Mul(10)
		if tenTimes.Cmp(nineTimes) < 0 {
			m.Suspect("NodeClaim %s says that its node has %s of %s, and node %s has %s, which is less than 90 %%",
				nodeClaim, &said, resource, node, &has)
			return
		}
	}
}

// judgeLabels judges whether a node has the labels that its NodeClaim requires.
func judgeLabels(m *check.Moment, nodeClaim, node *history.Object) {
	for _, r := range objectsAt(nodeClaim.Unstructured(), "spec", "requirements") {
		key, _ := r["key"].(string)
		operator, _ := r["operator"].(string)
		values, _, _ := unstructured.NestedStringSlice(r, "values")
		if strings.Contains(key, "beta.kubernetes.io/") {
			continue
		}
		label, labeled := fieldAt(node.Unstructured(), "metadata", "labels", key).(string)
		m.Tested()
		if !allowsLabel(operator, values, label, labeled) {
			if !labeled {
				label = "not there"
			}
			m.Suspect("NodeClaim %s requires %s %s %v, and on node %s this label is %s",
				nodeClaim, key, operator, values, node, label)
			return
		}
	}
}

// allowsLabel reports whether a requirement allows a label with this value, or no label
// (Karpenter: pkg/apis/v1/nodeclaim.go, NodeSelectorRequirementWithMinValues). Unreadable ones
// allow all.
func allowsLabel(operator string, values []string, label string, labeled bool) bool {
	switch corev1.NodeSelectorOperator(operator) {
	case corev1.NodeSelectorOpIn:
		return labeled && slices.Contains(values, label)
	case corev1.NodeSelectorOpNotIn:
		return !labeled || !slices.Contains(values, label)
	case corev1.NodeSelectorOpDoesNotExist:
		return !labeled
	}
	if !labeled || len(values) != 1 {
		return true
	}
	n, err := strconv.Atoi(label)
	bound, err2 := strconv.Atoi(values[0])
	if err != nil || err2 != nil {
		return true
	}
	switch operator {
	case "Gt":
		return n > bound
	case "Lt":
		return n < bound
	case "Gte":
		return n >= bound
	case "Lte":
		return n <= bound
	default:
		return true
	}
}
