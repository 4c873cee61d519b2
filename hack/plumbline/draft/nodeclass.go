package draft

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// nodeClass is the smallest NodeClass that a CRD's schema allows.
type nodeClass struct {
	kind   string
	object map[string]any
	// notes says which of its values are made up, and which rules the API server will check.
	notes []string
}

// definition is the part of a CRD that is needed here.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Kind string }
		Versions []struct {
			Name    string
			Storage bool
			Schema  struct{ OpenAPIV3Schema schema }
		}
	}
}

// schema is the part of a JSON schema that says which values must be there.
type schema struct {
	Type        string
	Description string
	Properties  map[string]schema
	Required    []string
	Items       *schema
	MinItems    int64
	Minimum     float64
	Enum        []any
	Default     any
	Rules       []struct{ Rule, Message string } `json:"x-kubernetes-validations"`
}

// coreGroups are the API groups of Karpenter core and others.
var coreGroups = []string{"karpenter.sh", "autoscaling.x-k8s.io", "cluster.x-k8s.io"}

// nodeClassOf finds the provider's NodeClass among CRDs. It returns nil if there is none. Of several it takes the
// one with the shortest name, and notes the others.
func nodeClassOf(crds []*unstructured.Unstructured) (*nodeClass, error) {
	var found []definition
	for _, o := range crds {
		var d definition
		raw, err := o.MarshalJSON()
		if err == nil {
			err = json.Unmarshal(raw, &d)
		}
		if err != nil {
			return nil, fmt.Errorf("CRD %s: %w", o.GetName(), err)
		}
		if strings.HasSuffix(d.Spec.Names.Kind, "NodeClass") && !slices.Contains(coreGroups, d.Spec.Group) {
			found = append(found, d)
		}
	}
	if len(found) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	slices.SortFunc(found, func(a, b definition) int { return len(a.Spec.Names.Kind) - len(b.Spec.Names.Kind) })
	n := &nodeClass{kind: found[0].Spec.Names.Kind}
	for _, other := range found[1:] {
		n.notes = append(n.notes, "There is also the kind "+other.Spec.Names.Kind+".")
	}
	for _, v := range found[0].Spec.Versions {
		if !v.Storage {
			continue
		}
		n.object = map[string]any{
			"apiVersion": found[0].Spec.Group + "/" + v.Name, "kind": found[0].Spec.Names.Kind,
			"metadata": map[string]any{"name": "default"},
		}
		if spec, there := v.Schema.OpenAPIV3Schema.Properties["spec"]; there {
			n.object["spec"] = n.minimal("spec", spec)
		}
	}
	return n, nil
}

// minimal returns the smallest value that a schema allows: what is required and has no default.
func (n *nodeClass) minimal(path string, s schema) any {
	for _, r := range s.Rules {
		if r.Message == "" {
			r.Message = r.Rule
		}
		n.notes = append(n.notes, path+": the API server checks: "+r.Message)
	}
	switch {
	case s.Type == "object":
		value := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, key) && s.Properties[key].Default == nil {
				value[key] = n.minimal(path+"."+key, s.Properties[key])
			}
		}
		return value
	case s.Type == "array" && s.MinItems > 0 && s.Items != nil:
		return []any{n.minimal(path+"[0]", *s.Items)}
	case s.Type == "array":
		return []any{}
	case len(s.Enum) > 0:
		n.notes = append(n.notes, path+": the first of the values that are allowed")
		return s.Enum[0]
	}
	n.notes = append(n.notes, strings.TrimSpace(path+": made up. "+firstSentence(s.Description)))
	switch s.Type {
	case "integer", "number":
		return max(int64(s.Minimum), 1)
	case "boolean":
		return false
	default:
		return sample
	}
}

// firstSentence returns the beginning of a description, on one line.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	return text
}
