package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// NewNode is a node that Karpenter could launch.
type NewNode struct {
	Pool, Shape string // the shape is its type, zone and capacity type
	Node        *corev1.Node
}

// pool is what counts of a NodePool.
type pool struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Replicas *int64              `json:"replicas"`
		Limits   corev1.ResourceList `json:"limits"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Taints       []corev1.Taint `json:"taints"`
				Requirements []requirement  `json:"requirements"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Resources corev1.ResourceList `json:"resources"`
	} `json:"status"`
}

// resourceNodes is the limit of a pool's nodes (Karpenter: pkg/utils/resources).
const resourceNodes corev1.ResourceName = "nodes"

func templateLabels(nodePool *unstructured.Unstructured) map[string]string {
	labels, _, _ := unstructured.NestedStringMap(nodePool.Object, "spec", "template", "metadata", "labels")
	return labels
}

// NewNodes returns a node of each known shape for each NodePool that may launch it now: the
// pool is ready, its requirements allow the shape, and its limits leave room for it. Startup
// taints are left out, since they go. Static pools don't launch nodes for pods.
//
// It returns why pools are left out whose nodes can't be foreseen: those with minValues, those
// with too many labels to choose from, and those that allow no known shape.
func (s *Shapes) NewNodes(w *history.World, waiting []*history.Object) (nodes []NewNode, unforeseen []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range w.List(karpenter.NodePools) {
		p, launches := readPool(o.Unstructured())
		if !launches {
			continue
		}
		more, why := s.ofPool(len(nodes), &p, p.room(w), mentioned(waiting))
		nodes = append(nodes, more...)
		if why != "" {
			unforeseen = append(unforeseen, fmt.Sprintf("NodePool %s %s", o.Name, why))
		}
	}
	return nodes, unforeseen
}

// ofPool returns the new nodes of a pool that fit in its room, numbered from first.
func (s *Shapes) ofPool(first int, p *pool, room corev1.ResourceList, mentioned map[string][]string,
) (nodes []NewNode, unforeseen string) {
	own, foreseen := p.ownLabels(mentioned)
	if slices.ContainsFunc(p.Spec.Template.Spec.Requirements, func(r requirement) bool { return r.MinValues != nil }) {
		return nil, "needs several types to choose from"
	}
	if !foreseen {
		return nil, "may give too many labels to its nodes"
	}
	unforeseen = "allows no type that this run has seen"
	for _, id := range slices.Sorted(maps.Keys(s.known)) {
		one := s.known[id]
		if !p.allows(one.labels) {
			continue
		}
		unforeseen = ""
		if !within(one.capacity, room) {
			continue
		}
		for _, labels := range own {
			nodes = append(nodes, p.node(first+len(nodes), one, labels))
		}
	}
	return nodes, unforeseen
}

// readPool reads a pool that may launch nodes for pods.
func readPool(o *unstructured.Unstructured) (p pool, launches bool) {
	ready, _ := karpenter.Condition(o, karpenter.Ready)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &p)
	return p, err == nil && !karpenter.Deleting(o) && ready.Status == metav1.ConditionTrue && p.Spec.Replicas == nil
}

// allows reports whether the pool's requirements allow a type with these labels. Requirements
// of other labels are the pool's own.
func (p *pool) allows(labels map[string]string) bool {
	for _, r := range p.Spec.Template.Spec.Requirements {
		value, has := labels[r.Key]
		if isOfTypes(r.Key) && !r.allows(value, has) {
			return false
		}
	}
	return true
}

// mostVariants bounds the sets of labels that a pool's own requirements may give to its nodes.
const mostVariants = 8

// ownLabels returns the sets of labels that the pool's template may give to a node. A
// requirement with several values allows each of them. If it names none, Karpenter chooses one
// that the pods allow: those that waiting pods mention, and another one, stand for all. It
// returns false if there are too many.
func (p *pool) ownLabels(mentioned map[string][]string) (sets []map[string]string, foreseen bool) {
	sets = []map[string]string{p.Spec.Template.Metadata.Labels}
	for _, r := range p.Spec.Template.Spec.Requirements {
		if isOfTypes(r.Key) || r.Operator == corev1.NodeSelectorOpDoesNotExist {
			continue
		}
		values := r.Values
		if r.Operator != corev1.NodeSelectorOpIn {
			values = append(r.others(), mentioned[r.Key]...)
		}
		var with []map[string]string
		for _, value := range values {
			for _, set := range sets {
				if before, has := set[r.Key]; r.allows(value, true) && (!has || before == value) {
					more := maps.Clone(set)
					if more == nil {
						more = map[string]string{}
					}
					more[r.Key] = value
					with = append(with, more)
				}
			}
		}
		if len(with) == 0 || len(with) > mostVariants {
			return nil, false
		}
		sets = with
	}
	return sets, true
}

// mentioned returns the values that pods mention for each label.
func mentioned(pods []*history.Object) map[string][]string {
	all := map[string][]string{}
	for _, o := range pods {
		var pod corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Unstructured().Object, &pod) != nil {
			continue
		}
		for key, value := range pod.Spec.NodeSelector {
			all[key] = append(all[key], value)
		}
		if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil ||
			pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			continue
		}
		for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				if e.Operator == corev1.NodeSelectorOpIn {
					all[e.Key] = append(all[e.Key], e.Values...)
				}
			}
		}
	}
	for key, values := range all {
		slices.Sort(values)
		all[key] = slices.Compact(values)
	}
	return all
}

// room returns what the pool's limits leave. What is used is the more of what the pool says and
// what its NodeClaims and nodes are.
func (p *pool) room(w *history.World) corev1.ResourceList {
	used := corev1.ResourceList{}
	claimed := map[string]bool{}
	add := func(o *unstructured.Unstructured) {
		for name, q := range resources(o, "capacity") {
			sum := used[name]
			sum.Add(q)
			used[name] = sum
		}
		nodes := used[resourceNodes]
		nodes.Add(*resource.NewQuantity(1, resource.DecimalSI))
		used[resourceNodes] = nodes
	}
	for _, o := range w.List(karpenter.NodeClaims) {
		if u := o.Unstructured(); karpenter.NodePoolOf(u) == p.Metadata.Name {
			claimed[karpenter.NodeClaimNode(u)] = true
			add(u)
		}
	}
	for _, o := range w.List(karpenter.Nodes) {
		if u := o.Unstructured(); karpenter.NodePoolOf(u) == p.Metadata.Name && !claimed[o.Name] {
			add(u)
		}
	}
	room := corev1.ResourceList{}
	for name, limit := range p.Spec.Limits {
		taken := used[name]
		if said := p.Status.Resources[name]; said.Cmp(taken) > 0 {
			taken = said
		}
		limit.Sub(taken)
		room[name] = limit
	}
	return room
}

// within reports whether one more node of a capacity is within what limits leave.
func within(capacity, room corev1.ResourceList) bool {
	for name, left := range room {
		q := capacity[name]
		if name == resourceNodes {
			q = *resource.NewQuantity(1, resource.DecimalSI)
		}
		if q.Cmp(left) > 0 {
			return false
		}
	}
	return true
}

// node returns a node of the pool, ready and initialized.
func (p *pool) node(n int, s shape, own map[string]string) NewNode {
	name := fmt.Sprintf("plumbline-new-%d", n)
	labels := maps.Clone(s.labels)
	maps.Copy(labels, own)
	maps.Copy(labels, map[string]string{
		corev1.LabelHostname: name, karpenter.NodePoolLabel: p.Metadata.Name,
		karpenter.RegisteredLabel: "true", karpenter.InitializedLabel: "true",
	})
	taints := slices.DeleteFunc(slices.Clone(p.Spec.Template.Spec.Taints), func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule
	})
	return NewNode{
		Pool: p.Metadata.Name,
		Shape: strings.Join([]string{
			labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone], labels[karpenter.CapacityTypeLabel],
		}, " "),
		Node: &corev1.Node{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1", Labels: labels},
			Spec:       corev1.NodeSpec{ProviderID: "plumbline://" + name, Taints: taints},
			Status: corev1.NodeStatus{
				Capacity: s.capacity, Allocatable: s.allocatable,
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		},
	}
}
