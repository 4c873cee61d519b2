package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// template is the part of a NodePool's template that NodeClaims copy, by field. A pool's hash
// covers the same part (Karpenter: pkg/apis/v1/nodepool.go, Hash).
type template map[string]string

// templateOf reads a pool's template at this path, or the same fields of a NodeClaim.
func templateOf(o *unstructured.Unstructured, path ...string) template {
	at := func(field ...string) []string { return slices.Concat(path, field) }
	t := template{}
	for what, field := range map[string]string{"label": "labels", "annotation": "annotations"} {
		values, _, _ := unstructured.NestedStringMap(o.Object, at("metadata", field)...)
		for key, v := range values {
			t[what+" "+key] = v
		}
	}
	for _, field := range []string{"taints", "startupTaints"} {
		var all []string
		for _, taint := range objectsAt(o, at("spec", field)...) {
			value, _ := taint["value"].(string)
			all = append(all, fmt.Sprintf("%s=%s:%s", taint["key"], value, taint["effect"]))
		}
		slices.Sort(all)
		t[field] = strings.Join(all, " ")
	}
	for _, field := range []string{"expireAfter", "terminationGracePeriod"} {
		t.put(field, canonicalDuration(textAt(o, at("spec", field)...)))
	}
	for _, field := range []string{"group", "kind", "name"} {
		t.put("nodeClassRef."+field, textAt(o, at("spec", "nodeClassRef", field)...))
	}
	return t
}

func (t template) put(field, value string) {
	if value != "" {
		t[field] = value
	}
}

// canonicalDuration formats a duration in one way (60m is 1h0m0s), and keeps other text.
func canonicalDuration(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return d.String()
	}
	return s
}

// missingIn describes what a NodeClaim lacks of a template, or has instead; empty if nothing.
func (t template) missingIn(of template) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(of)) {
		switch has, there := t[what]; {
		case !there:
			all = append(all, fmt.Sprintf("%s is not there, and in the template %q", what, of[what]))
		case has != of[what]:
			all = append(all, fmt.Sprintf("%s is %q, and in the template %q", what, has, of[what]))
		}
	}
	return strings.Join(all, "; ")
}
