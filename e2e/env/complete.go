package env

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Names of the NodeClass that every spec gets, and of the one that it can have
// beside it.
const (
	nodeClassObject  = "plumbline"
	anotherNodeClass = "plumbline-another"
)

// complete adds to a spec's object what only the provider knows: a NodePool
// or NodeClaim gets the adapter's requirements and a NodeClass, created on
// first need. What the spec says itself wins, be it no more than the name of
// another NodeClass. NodeClaims that no pod asks for,
// those of static NodePools among them, get the adapter's nodeClaim too. Whatever
// it is, it is marked as ours, and its pods keep to our nodes where there are others.
func (e *Env) complete(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	cluster.Own(o)
	if e.place.Shared {
		if err := requireKarpenterNode(o); err != nil {
			e.fail(ctx, "%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	var path []string
	switch o.GetKind() {
	case "NodePool":
		path = []string{"spec", "template", "spec"}
	case "NodeClaim":
		path = []string{"spec"}
	default:
		return o
	}
	if err := e.place.Adapter.Names.Accept(o.GetName()); err != nil {
		e.fail(ctx, "%s: %w", o.GetKind(), err)
	}
	template, _, _ := unstructured.NestedMap(e.place.Adapter.NodePoolTemplate().Object, "spec", "template", "spec")
	if _, static, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas"); static || o.GetKind() == "NodeClaim" {
		claim, _, _ := unstructured.NestedMap(e.place.Adapter.NodeClaimTemplate().Object, "spec")
		template = below(template, claim)
	}
	own, _, _ := unstructured.NestedMap(o.Object, path...)
	completed := below(template, own)
	class, _, _ := unstructured.NestedMap(own, "nodeClassRef")
	if len(class) < 2 { // else it is meant as it is, also where a part is missing
		completed["nodeClassRef"] = below(e.nodeClass(ctx), class)
	}
	if err := unstructured.SetNestedMap(o.Object, completed, path...); err != nil {
		e.fail(ctx, "%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return o
}

// nodeClass returns a reference to the spec's NodeClass, which it creates the
// first time.
func (e *Env) nodeClass(ctx context.Context) map[string]any {
	return e.nodeClassCalled(ctx, nodeClassObject)
}

// AnotherNodeClass creates a second NodeClass, from the same template of the
// provider as the spec's own, and returns what refers to it.
func (e *Env) AnotherNodeClass(ctx context.Context) (group, kind, name string) {
	e.nodeClassCalled(ctx, anotherNodeClass)
	gvk := e.place.Adapter.NodeClassObject(anotherNodeClass).GroupVersionKind()
	return gvk.Group, gvk.Kind, anotherNodeClass
}

func (e *Env) nodeClassCalled(ctx context.Context, name string) map[string]any {
	o := e.place.Adapter.NodeClassObject(name)
	cluster.Own(o)
	kind := e.place.Adapter.NodeClassGVR()
	if !slices.ContainsFunc(e.created, func(r reference) bool { return r.kind == kind && r.name == name }) {
		ref, _ := e.apply(ctx, o)
		e.created = append(e.created, ref)
		// A NodeClaim whose NodeClass the provider has not been told of yet is given up at
		// once. When the recording has been told, so have all who watch.
		if err := e.recorder.Await(ctx, func(w *history.World) bool { return w.Get(kind, "", name) != nil }); err != nil {
			e.fail(ctx, "waiting for %s %s to be recorded: %w", o.GetKind(), name, err)
		}
	}
	gvk := o.GroupVersionKind()
	return map[string]any{"group": gvk.Group, "kind": gvk.Kind, "name": o.GetName()}
}

// below lays a template under a NodeClaim's spec: maps are merged, of
// requirements those whose key the spec doesn't name are added, and all else
// is the spec's own where it says something.
func below(template, own map[string]any) map[string]any {
	merged := maps.Clone(template)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range own {
		under, isMap := merged[key].(map[string]any)
		over, alsoMap := value.(map[string]any)
		switch {
		case isMap && alsoMap:
			merged[key] = below(under, over)
		case key == "requirements":
			merged[key] = requirements(merged[key], value)
		default:
			merged[key] = value
		}
	}
	return merged
}

func requirements(template, own any) []any {
	ours, _ := own.([]any)
	named := map[any]bool{}
	for _, r := range ours {
		if m, ok := r.(map[string]any); ok {
			named[m["key"]] = true
		}
	}
	theirs, _ := template.([]any)
	merged := slices.Clone(ours)
	for _, r := range theirs {
		if m, ok := r.(map[string]any); ok && !named[m["key"]] {
			merged = append(merged, r)
		}
	}
	return merged
}
