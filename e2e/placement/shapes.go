package placement

import (
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Shapes holds the instance types of a provider, in each zone and capacity type, as far as nodes
// have shown them. Sessions of one process share it. The zero value knows none.
type Shapes struct {
	mu    sync.Mutex
	known map[string]shape // by the labels that identify it
}

// shape is what nodes of a type in a zone have in common, whatever their NodePool.
type shape struct {
	labels                map[string]string
	allocatable, capacity corev1.ResourceList
}

// identifying are the labels that tell shapes apart.
var identifying = []string{
	corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, karpenter.CapacityTypeLabel,
	corev1.LabelArchStable, corev1.LabelOSStable,
}

// Learn adds the shapes of the nodes of a recording whose NodeClaims are initialized. A recording
// with NodeOverlays shows no true shapes.
func (s *Shapes) Learn(h *history.History) {
	w := h.Start()
	if len(w.List(karpenter.NodeOverlays)) > 0 {
		return
	}
	found := map[string]shape{}
	for _, e := range h.Events() {
		w.Apply(e)
		switch e.Resource {
		case karpenter.NodeOverlays:
			return
		case karpenter.NodeClaims:
			nodeClaim := e.Object.Unstructured()
			node := w.Get(karpenter.Nodes, "", karpenter.NodeClaimNode(nodeClaim))
			if node != nil && karpenter.IsTrue(nodeClaim, karpenter.Initialized) {
				learn(found, node.Unstructured(), nodeClaim, w.Get(karpenter.NodePools, "", karpenter.NodePoolOf(nodeClaim)))
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]shape{}
	}
	for id, one := range found {
		s.known[id] = one.and(s.known[id])
	}
}

// learn adds the shape of a node, which has what both the node and its NodeClaim say.
// Something else may have added resources to one of them, a device plugin for example.
func learn(known map[string]shape, node, nodeClaim *unstructured.Unstructured, pool *history.Object) {
	var ofPool map[string]string
	if pool != nil {
		ofPool = templateLabels(pool.Unstructured())
	}
	labels := map[string]string{}
	for key, value := range node.GetLabels() {
		if _, is := ofPool[key]; !is && isOfTypes(key) && nodeClaim.GetLabels()[key] == value {
			labels[key] = value
		}
	}
	for _, key := range []string{corev1.LabelArchStable, corev1.LabelOSStable} { // some NodeClaims lack them
		labels[key] = node.GetLabels()[key]
	}
	var id strings.Builder
	for _, key := range identifying {
		if labels[key] == "" {
			return
		}
		id.WriteString(labels[key] + "/")
	}
	if labels[karpenter.CapacityTypeLabel] == karpenter.Reserved {
		return // there are only so many
	}
	one := shapeOf(labels, node).and(shapeOf(labels, nodeClaim))
	known[id.String()] = one.and(known[id.String()])
}

// shapeOf returns the shape that a node or NodeClaim shows. Its capacity is at least what is allocatable of it: KWOK's
// provider says of both that they have what their pods request (kwok/cloudprovider/cloudprovider.go).
func shapeOf(labels map[string]string, o *unstructured.Unstructured) shape {
	s := shape{labels, resources(o, "allocatable"), resources(o, "capacity")}
	if s.capacity == nil {
		s.capacity = corev1.ResourceList{}
	}
	for name, q := range s.allocatable {
		if said := s.capacity[name]; said.Cmp(q) < 0 {
			s.capacity[name] = q
		}
	}
	return s
}

// isOfTypes reports whether a label can describe an instance type or where it is. Others come
// from NodePools or users.
func isOfTypes(key string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	if !qualified || key == corev1.LabelHostname || strings.HasSuffix(key, "nodeclass") {
		return false
	}
	if domain == karpenter.Group {
		return key == karpenter.CapacityTypeLabel
	}
	return strings.HasPrefix(domain, "karpenter.") || strings.Contains("."+domain, ".kubernetes.io") ||
		strings.Contains("."+domain, ".k8s.io")
}

// and returns what two views of one shape have in common. The other may be empty.
func (s shape) and(other shape) shape {
	if other.labels == nil {
		return s
	}
	common := shape{map[string]string{}, corev1.ResourceList{}, corev1.ResourceList{}}
	for key, value := range s.labels {
		if other.labels[key] == value {
			common.labels[key] = value
		}
	}
	for name, q := range s.allocatable {
		if o, has := other.allocatable[name]; has {
			common.allocatable[name] = o
			if q.Cmp(o) < 0 {
				common.allocatable[name] = q
			}
		}
	}
	maps.Copy(common.capacity, other.capacity)
	for name, q := range s.capacity { // the more counts: it must be within limits
		if o, has := common.capacity[name]; !has || q.Cmp(o) > 0 {
			common.capacity[name] = q
		}
	}
	return common
}

// resources reads a list of resources from an object's status.
func resources(o *unstructured.Unstructured, field string) corev1.ResourceList {
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	list, _ := status[field].(map[string]any)
	var out struct {
		List corev1.ResourceList `json:"list"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"list": list}, &out); err != nil {
		return corev1.ResourceList{}
	}
	return out.List
}
