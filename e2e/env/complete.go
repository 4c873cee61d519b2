package env

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// nodeClassObject is the name of the NodeClass that every spec gets.
const nodeClassObject = "plumbline"

// AnotherNodeClass is the name of the NodeClass that Env.AnotherNodeClass makes.
const AnotherNodeClass = "plumbline-another"

// complete adds to a spec's object what only the provider knows. A NodePool or NodeClaim gets
// the adapter's defaults and a NodeClass, created when first needed. What the spec sets wins,
// even if it is only the name of another NodeClass. Every object is marked as ours. On a
// shared cluster its pods use only our nodes.
func (e *Env) complete(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	cluster.Own(o)
	if e.place.Shared {
		if err := requireKarpenterNode(o); err != nil {
			e.fail(ctx, "%s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	path := nodeClaimSpec(o)
	if path == nil {
		return o
	}
	if err := e.place.Adapter.Names.Accept(o.GetName()); err != nil {
		e.fail(ctx, "%s: %w", o.GetKind(), err)
	}
	class, _, _ := unstructured.NestedMap(o.Object, append(path, "nodeClassRef")...)
	if len(class) < 2 { // otherwise it is used as it is, even if a part is missing
		class = mergeDefaults(e.nodeClassRef(ctx, o), class)
	}
	if err := AddDefaults(e.place.Adapter, o, class); err != nil {
		e.fail(ctx, "%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return o
}

// AddDefaults completes a NodePool or NodeClaim from the adapter's templates, and sets its nodeClassRef. It leaves
// objects of other kinds as they are.
func AddDefaults(a *providers.Adapter, o *unstructured.Unstructured, class map[string]any) error {
	path := nodeClaimSpec(o)
	if path == nil {
		return nil
	}
	o.Object = mergeDefaults(defaults(a, o), o.Object)
	own, _, _ := unstructured.NestedMap(o.Object, path...)
	// The list of requirements must be there, even if it is empty.
	completed := mergeDefaults(map[string]any{"requirements": []any{}}, own)
	completed["nodeClassRef"] = class
	return unstructured.SetNestedMap(o.Object, completed, path...)
}

// nodeClaimSpec returns where an object has the spec of NodeClaims; nil for objects that have none.
func nodeClaimSpec(o *unstructured.Unstructured) []string {
	switch o.GetKind() {
	case "NodePool":
		return []string{"spec", "template", "spec"}
	case "NodeClaim":
		return []string{"spec"}
	default:
		return nil
	}
}

// nodeClassRef returns a reference to the spec's NodeClass, as an object's version of Karpenter's API
// has it. In v1beta1 it needs no API group.
func (e *Env) nodeClassRef(ctx context.Context, o *unstructured.Unstructured) map[string]any {
	class := e.nodeClass(ctx)
	if o.GroupVersionKind().Version == karpenter.V1Beta1 {
		delete(class, "group")
	}
	return class
}

// defaults returns what the adapter gives to a NodePool or NodeClaim. NodeClaims that no pod
// asks for, including those of static NodePools, get the adapter's nodeClaim on top of the
// template in its nodePool.
func defaults(a *providers.Adapter, o *unstructured.Unstructured) map[string]any {
	pool, claim := a.NodePoolTemplate().Object, a.NodeClaimTemplate().Object
	template, _, _ := unstructured.NestedMap(pool, "spec", "template")
	if o.GetKind() == "NodeClaim" {
		return mergeDefaults(template, claim)
	}
	if _, static, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas"); !static {
		return pool
	}
	delete(claim, "apiVersion")
	delete(claim, "kind")
	return mergeDefaults(pool, map[string]any{"spec": map[string]any{"template": mergeDefaults(template, claim)}})
}

// nodeClass returns a reference to the spec's NodeClass. The first call creates it.
func (e *Env) nodeClass(ctx context.Context) map[string]any {
	return e.nodeClassCalled(ctx, nodeClassObject)
}

// AnotherNodeClass creates a second NodeClass from the provider's template, and returns it.
func (e *Env) AnotherNodeClass(ctx context.Context) (group, kind, name string) {
	e.nodeClassCalled(ctx, AnotherNodeClass)
	gvk := e.place.Adapter.NodeClassObject(AnotherNodeClass).GroupVersionKind()
	return gvk.Group, gvk.Kind, AnotherNodeClass
}

// NodeClass creates the NodeClass that NodePools and NodeClaims get, if they refer to no other, and
// returns it.
func (e *Env) NodeClass(ctx context.Context) fixtures.Object {
	e.nodeClass(ctx)
	o := e.place.Adapter.NodeClassObject(nodeClassObject)
	return fixtures.Existing(o.GetAPIVersion(), o.GetKind(), o.GetName())
}

// NodeClassHash returns the key of the annotation with a NodeClass's hash. The version of the hash is in
// the annotation of that name and "-version".
func (e *Env) NodeClassHash() string {
	return e.place.Adapter.Capabilities[providers.NodeClassHash].Annotation
}

func (e *Env) nodeClassCalled(ctx context.Context, name string) map[string]any {
	o := e.place.Adapter.NodeClassObject(name)
	cluster.Own(o)
	kind := e.place.Adapter.NodeClassGVR()
	if !slices.ContainsFunc(e.created, func(r reference) bool { return r.kind == kind && r.name == name }) {
		ref, _ := e.apply(ctx, o)
		e.created = append(e.created, ref)
		// A NodeClaim is given up at once if the provider's watch hasn't delivered its
		// NodeClass yet. Once the recording has it, so have all watches.
		if err := e.recorder.Await(ctx, func(w *history.World) bool { return w.Get(kind, "", name) != nil }); err != nil {
			e.fail(ctx, "waiting for %s %s to be recorded: %w", o.GetKind(), name, err)
		}
	}
	gvk := o.GroupVersionKind()
	return map[string]any{"group": gvk.Group, "kind": gvk.Kind, "name": o.GetName()}
}

// mergeDefaults fills an object, or a part of it, from a template. Maps are merged. Requirements are
// added if the spec has none with their key. Otherwise the spec's own value wins.
func mergeDefaults(template, own map[string]any) map[string]any {
	merged := maps.Clone(template)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range own {
		under, isMap := merged[key].(map[string]any)
		over, alsoMap := value.(map[string]any)
		switch {
		case isMap && alsoMap:
			merged[key] = mergeDefaults(under, over)
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

// withoutNulls removes the fields of mappings that are null. An API server refuses some of them.
func withoutNulls(fields map[string]any) {
	for name, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, name)
		case map[string]any:
			withoutNulls(v)
		}
	}
}
