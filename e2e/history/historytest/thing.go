package historytest

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Thing is an object of a story. Node, NodeClaim, Pod, Pool, Report and Other make one; the
// zero value is not usable.
type Thing struct {
	resource schema.GroupVersionResource
	content  map[string]any
}

// Other returns an object of any kind.
func Other(resource schema.GroupVersionResource, kind, namespace, name string) *Thing {
	metadata := map[string]any{"name": name, "uid": kind + "/" + namespace + "/" + name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return &Thing{resource, map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind, "metadata": metadata,
	}}
}

// Node returns a node that is not ready.
func Node(name string) *Thing { return Other(karpenter.Nodes, "Node", "", name) }

// NodeClaim returns a NodeClaim without conditions.
func NodeClaim(name string) *Thing { return Other(karpenter.NodeClaims, "NodeClaim", "", name) }

// Pool returns a NodePool.
func Pool(name string) *Thing { return Other(karpenter.NodePools, "NodePool", "", name) }

// Pod returns a pending pod of a workload, in the namespace default.
func Pod(name, workload string) *Thing {
	t := Other(karpenter.Pods, "Pod", "default", name).Phase("Pending")
	t.metadata()["ownerReferences"] = []any{map[string]any{"kind": "StatefulSet", "name": workload}}
	return t
}

// Report returns a Kubernetes Event about another object.
func Report(component, reason string, about *Thing) *Thing {
	m := about.metadata()
	name, _ := m["name"].(string)
	t := Other(karpenter.Events, "Event", "default", name+"."+reason)
	t.content["reason"] = reason
	t.content["source"] = map[string]any{"component": component}
	t.content["involvedObject"] = map[string]any{
		"kind": about.content["kind"], "name": name, "namespace": m["namespace"],
		"uid": m["uid"],
	}
	return t
}

// GetName returns the object's name, so that a Thing can be passed to checks.
func (t *Thing) GetName() string {
	name, _ := t.metadata()["name"].(string)
	return name
}

// UID sets another UID, as after a deletion and a new creation.
func (t *Thing) UID(uid string) *Thing { return t.Set(uid, "metadata", "uid") }

// Pool sets the NodePool of a node or NodeClaim.
func (t *Thing) Pool(name string) *Thing { return t.Label(karpenter.NodePoolLabel, name) }

// Label sets a label.
func (t *Thing) Label(key, value string) *Thing { return t.Set(value, "metadata", "labels", key) }

// Annotate sets an annotation.
func (t *Thing) Annotate(key, value string) *Thing {
	return t.Set(value, "metadata", "annotations", key)
}

// Finalizers sets the finalizers, or an empty list.
func (t *Thing) Finalizers(names ...string) *Thing {
	all := []any{}
	for _, name := range names {
		all = append(all, name)
	}
	return t.Set(all, "metadata", "finalizers")
}

// Ready sets the condition Ready to True.
func (t *Thing) Ready() *Thing { return t.True(karpenter.Ready) }

// True sets a condition to True.
func (t *Thing) True(condition string) *Thing { return t.condition(condition, "True") }

// Because sets a condition to True with a reason.
func (t *Thing) Because(condition, reason string) *Thing {
	t.True(condition)
	for _, c := range listOf(t.mapAt("status")["conditions"]) {
		if c := c.(map[string]any); c["type"] == condition {
			c["reason"] = reason
		}
	}
	return t
}

// False sets a condition to False.
func (t *Thing) False(condition string) *Thing { return t.condition(condition, "False") }

// Taint adds a taint with the effect NoSchedule.
func (t *Thing) Taint(key string) *Thing {
	return t.put("spec", "taints", "key", map[string]any{"key": key, "effect": "NoSchedule"})
}

// Untaint removes a taint.
func (t *Thing) Untaint(key string) *Thing {
	spec := t.mapAt("spec")
	var left []any
	for _, e := range listOf(spec["taints"]) {
		if e.(map[string]any)["key"] != key {
			left = append(left, e)
		}
	}
	spec["taints"] = left
	return t
}

// Phase sets a pod's phase, such as Running.
func (t *Thing) Phase(phase string) *Thing { return t.Set(phase, "status", "phase") }

// On sets the node of a pod or NodeClaim.
func (t *Thing) On(node string) *Thing {
	if t.resource == karpenter.NodeClaims {
		return t.Set(node, "status", "nodeName")
	}
	return t.Set(node, "spec", "nodeName")
}

// Capacity sets status.capacity of one resource, such as cpu.
func (t *Thing) Capacity(resource, quantity string) *Thing {
	return t.Set(quantity, "status", "capacity", resource)
}

// Deleting sets the deletion timestamp, as on an object that finalizers hold.
func (t *Thing) Deleting() *Thing {
	return t.Set("2026-01-02T15:04:05Z", "metadata", "deletionTimestamp")
}

// Set sets the field at a path.
func (t *Thing) Set(value any, path ...string) *Thing {
	last := len(path) - 1
	t.mapAt(path[:last]...)[path[last]] = value
	return t
}

func (t *Thing) condition(name, status string) *Thing {
	return t.put("status", "conditions", "type", map[string]any{
		"type": name, "status": status, "reason": name, "message": "",
		"lastTransitionTime": time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC).Format(time.RFC3339),
	})
}

// put appends an entry to a list, or replaces the entry with the same key.
func (t *Thing) put(parent, list, key string, entry map[string]any) *Thing {
	m := t.mapAt(parent)
	entries := listOf(m[list])
	for i, e := range entries {
		if e.(map[string]any)[key] == entry[key] {
			entries[i] = entry
			return t
		}
	}
	m[list] = append(entries, entry)
	return t
}

func (t *Thing) metadata() map[string]any { return t.mapAt("metadata") }

// mapAt returns the map at a path, and makes missing ones.
func (t *Thing) mapAt(path ...string) map[string]any {
	m := t.content
	for _, step := range path {
		next, ok := m[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[step] = next
		}
		m = next
	}
	return m
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}
