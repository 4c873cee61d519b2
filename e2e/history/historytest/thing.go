package historytest

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Thing is an object that a story tells of. The zero value is of no use: Node,
// Claim, Pod, Pool, Report and Other make one.
type Thing struct {
	resource schema.GroupVersionResource
	content  map[string]any
}

// Other is a thing of any kind.
func Other(resource schema.GroupVersionResource, kind, namespace, name string) *Thing {
	metadata := map[string]any{"name": name, "uid": kind + "/" + namespace + "/" + name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return &Thing{resource, map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind, "metadata": metadata,
	}}
}

// Node is a node that is not ready.
func Node(name string) *Thing { return Other(karpenter.Nodes, "Node", "", name) }

// NodeClaim is a NodeClaim without conditions.
func NodeClaim(name string) *Thing { return Other(karpenter.NodeClaims, "NodeClaim", "", name) }

// Pool is a NodePool.
func Pool(name string) *Thing { return Other(karpenter.NodePools, "NodePool", "", name) }

// Pod is a pending pod of a workload, in the namespace default.
func Pod(name, workload string) *Thing {
	t := Other(karpenter.Pods, "Pod", "default", name).Phase("Pending")
	t.metadata()["ownerReferences"] = []any{map[string]any{"kind": "StatefulSet", "name": workload}}
	return t
}

// Report is a Kubernetes Event about another thing.
func Report(component, reason string, about *Thing) *Thing {
	m := about.metadata()
	name, _ := m["name"].(string)
	t := Other(karpenter.Events, "Event", "default", name+"."+reason)
	t.content["reason"] = reason
	t.content["source"] = map[string]any{"component": component}
	t.content["involvedObject"] = map[string]any{"kind": about.content["kind"], "name": name, "namespace": m["namespace"], "uid": m["uid"]}
	return t
}

// GetName is the thing's name, so that checks can be asked about it.
func (t *Thing) GetName() string {
	name, _ := t.metadata()["name"].(string)
	return name
}

// UID gives it another UID, as a thing has that was deleted and made again.
func (t *Thing) UID(uid string) *Thing { return t.Set(uid, "metadata", "uid") }

// Pool makes a node or NodeClaim one of the pool's.
func (t *Thing) Pool(name string) *Thing { return t.Label(karpenter.NodePoolLabel, name) }

// Label sets a label.
func (t *Thing) Label(key, value string) *Thing { return t.Set(value, "metadata", "labels", key) }

// Annotate sets an annotation.
func (t *Thing) Annotate(key, value string) *Thing {
	return t.Set(value, "metadata", "annotations", key)
}

// Finalizers sets the finalizers, to none if there are none.
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

// Because sets a condition to True, for a reason.
func (t *Thing) Because(condition, reason string) *Thing {
	t.True(condition)
	for _, c := range listOf(t.at("status")["conditions"]) {
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
	spec := t.at("spec")
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

// On binds a pod to a node, or names the node of a NodeClaim.
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

// Deleting sets the time of deletion, as an object has that finalizers hold.
func (t *Thing) Deleting() *Thing {
	return t.Set("2026-01-02T15:04:05Z", "metadata", "deletionTimestamp")
}

// Set sets any field, by the path to it.
func (t *Thing) Set(value any, path ...string) *Thing {
	last := len(path) - 1
	t.at(path[:last]...)[path[last]] = value
	return t
}

func (t *Thing) condition(name, status string) *Thing {
	return t.put("status", "conditions", "type", map[string]any{
		"type": name, "status": status, "reason": name, "message": "",
		"lastTransitionTime": time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC).Format(time.RFC3339),
	})
}

// put replaces the entry of a list with the same key, or appends it.
func (t *Thing) put(parent, list, key string, entry map[string]any) *Thing {
	m := t.at(parent)
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

func (t *Thing) metadata() map[string]any { return t.at("metadata") }

// at is the map at a path, made where it is missing.
func (t *Thing) at(path ...string) map[string]any {
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
