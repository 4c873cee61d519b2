package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// asAsked is that a provider launches what it was asked for. Pods were promised room
// on this NodeClaim by its requirements and requests; if the instance is another, they
// wait for ever, or run where they must not:
//
//   - a node that is registered has the labels that the NodeClaim requires
//     (spec.requirements), with values that it allows;
//   - what is launched can hold the requests for which it was made
//     (spec.resources.requests): by status.allocatable of the NodeClaim, and of the
//     node once it is initialized;
//   - once it is initialized, the node has at least 90 % of what the NodeClaim says that
//     it has (status.capacity), of each resource that is requested. Until then pods are
//     placed by the NodeClaim's word.
//
// A label that is missing breaks the operator In only: of the others nobody knows
// whether the provider has a value. Labels in beta, which Karpenter translates, are
// left out.
//
// Sources: NodeClaim spec.requirements and spec.resources; Karpenter:
// pkg/cloudprovider/types.go (Create "launches a NodeClaim with the given resource
// requests and requirements"), and pkg/controllers/nodeclaim/consistency/nodeshape.go,
// where Karpenter itself reports a node that has less than 90 %.
func asAsked() Invariant {
	const name = "instances are what their NodeClaims ask for"
	return Invariant{
		Name:   name,
		Source: "NodeClaim spec.requirements and spec.resources; Karpenter: pkg/cloudprovider/types.go, Create, and pkg/controllers/nodeclaim/consistency/nodeshape.go",
		Check: func(Params) check.Check {
			return check.Follow(name, "nothing was launched or registered for a NodeClaim that asks for anything",
				func() func(*check.Moment) {
					f := newFleet()
					return func(m *check.Moment) {
						f.see(m)
						if m.Event != nil && !gone(m) {
							f.judgeAsked(m)
						}
					}
				}, karpenter.Nodes, karpenter.NodeClaims)
		},
	}
}

// judgeAsked judges the moments at which something is known of an instance.
func (f fleet) judgeAsked(m *check.Moment) {
	node, claim := f.pair(m.Event)
	switch {
	case m.Event.Resource == karpenter.NodeClaims && becomes(m, karpenter.Launched):
		judgeRoom(m, claim, claim)
	case m.Event.Resource == karpenter.NodeClaims && becomes(m, karpenter.Initialized):
		judgeShape(m, claim, node)
	case m.Event.Resource != karpenter.Nodes || claim == nil || m.Before == nil:
	case labelled(node, karpenter.RegisteredLabel) && !labelled(m.Before, karpenter.RegisteredLabel):
		judgeLabels(m, claim, node)
	case labelled(node, karpenter.InitializedLabel) && !labelled(m.Before, karpenter.InitializedLabel):
		judgeRoom(m, claim, node)
	}
}

// judgeRoom judges what a NodeClaim or its node, which is has, can hold.
func judgeRoom(m *check.Moment, claim, has *history.Object) {
	asked := quantities(value(claim.Unstructured(), "spec", "resources", "requests"))
	room := quantities(value(has.Unstructured(), "status", "allocatable"))
	if len(room) == 0 {
		return
	}
	for _, resource := range slices.Sorted(maps.Keys(asked)) {
		want, there := asked[resource], room[resource]
		m.Tested()
		if want.Cmp(there) > 0 {
			m.Suspect(fmt.Sprintf("NodeClaim %s was made for pods that request %s of %s, and %s %s has %s allocatable",
				claim.Name, &want, resource, has.Unstructured().GetKind(), has.Name, &there), has, claim)
			return
		}
	}
}

// judgeShape judges what a NodeClaim says that its node has. node may be nil.
func judgeShape(m *check.Moment, claim, node *history.Object) {
	if node == nil || deleting(claim) {
		return
	}
	asked := quantities(value(claim.Unstructured(), "spec", "resources", "requests"))
	said := quantities(value(claim.Unstructured(), "status", "capacity"))
	has := quantities(value(node.Unstructured(), "status", "capacity"))
	for _, resource := range slices.Sorted(maps.Keys(asked)) {
		wanted, promised, there := asked[resource], said[resource], has[resource]
		if wanted.IsZero() || promised.IsZero() {
			continue
		}
		m.Tested()
		enough, tenfold := promised.DeepCopy(), there.DeepCopy()
		enough.Mul(9)
		tenfold.Mul(10)
		if tenfold.Cmp(enough) < 0 {
			m.Suspect(fmt.Sprintf("NodeClaim %s says that its node has %s of %s, and node %s has %s, which is less than 90 %%",
				claim.Name, &promised, resource, node.Name, &there), node, claim)
			return
		}
	}
}

func judgeLabels(m *check.Moment, claim, node *history.Object) {
	for _, r := range list(claim.Unstructured(), "spec", "requirements") {
		key, _ := r["key"].(string)
		operator, _ := r["operator"].(string)
		if strings.Contains(key, "beta.kubernetes.io/") {
			continue
		}
		label, there := value(node.Unstructured(), "metadata", "labels", key).(string)
		m.Tested()
		if values := texts(r["values"]); !allows(operator, values, label, there) {
			if !there {
				label = "not there"
			}
			m.Suspect(fmt.Sprintf("NodeClaim %s requires %s %s %v, and on node %s this label is %s",
				claim.Name, key, operator, values, node.Name, label), node, claim)
			return
		}
	}
}

// allows says whether a requirement allows a label with this value, or its absence
// (Karpenter: pkg/apis/v1/nodeclaim.go, NodeSelectorRequirementWithMinValues). What it
// can't read it allows.
func allows(operator string, values []string, label string, there bool) bool {
	switch corev1.NodeSelectorOperator(operator) {
	case corev1.NodeSelectorOpIn:
		return there && slices.Contains(values, label)
	case corev1.NodeSelectorOpNotIn:
		return !there || !slices.Contains(values, label)
	case corev1.NodeSelectorOpDoesNotExist:
		return !there
	}
	if !there || len(values) != 1 {
		return true
	}
	bound, err := strconv.Atoi(values[0])
	n, alsoErr := strconv.Atoi(label)
	if err != nil || alsoErr != nil {
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

// texts are the strings in a list.
func texts(v any) []string {
	all, _ := v.([]any)
	var words []string
	for _, e := range all {
		if s, ok := e.(string); ok {
			words = append(words, s)
		}
	}
	return words
}
