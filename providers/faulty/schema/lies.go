// Package schema holds the lies of CRDs that were shipped broken: the API server
// takes what it should refuse, or decides otherwise where nothing is said.
package schema

import (
	"slices"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// Lies returns the lies of the schema level: the controller is honest, and the
// CRDs of NodePools and NodeClaims are not as Karpenter's.
func Lies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"checks-no-rules":           spec(func(s node) { delete(s, rules) }),
		"checks-no-values":          spec(checksNoValues),
		"wants-nothing":             spec(wantsNothing),
		"keeps-unknown-fields":      {CRD: keepsUnknownFields},
		"decides-nothing":           spec(func(s node) { delete(s, "default") }),
		"refuses-what-is-allowed":   {CRD: refusesWhatIsAllowed},
		"forgets-new-words":         spec(forgetsNewWords),
		"takes-static-for-dynamic":  {CRD: takesStaticForDynamic},
		"prints-nothing-of-its-own": {CRD: func(crd lie.CRD) { delete(version(crd), "additionalPrinterColumns") }},
		"goes-by-no-common-name":    {CRD: func(crd lie.CRD) { delete(at(crd, "spec", "names"), "categories") }},
		"serves-no-subresources":    {CRD: func(crd lie.CRD) { delete(version(crd), "subresources") }},
	}
}

// rules are those written in CEL.
const rules = "x-kubernetes-validations"

// checksNoValues lets every value pass, of whatever form and size; of rules it
// leaves those that can be worked out without a bound.
func checksNoValues(s node) {
	for _, check := range []string{"pattern", "enum", "minimum", "maximum", "minLength", "maxLength", "maxItems", "maxProperties"} {
		delete(s, check)
	}
	if s["x-kubernetes-list-type"] == "set" {
		s["x-kubernetes-list-type"] = "atomic"
	}
	delete(s, rules)
}

// wantsNothing lets everything be left out.
func wantsNothing(s node) {
	delete(s, "required")
	delete(s, rules) // which speak of what is required
}

// keepsUnknownFields takes fields that there aren't.
func keepsUnknownFields(crd lie.CRD) {
	walk(at(version(crd), "schema", "openAPIV3Schema"), func(s node) {
		if s["type"] == "object" && s["properties"] != nil && s["x-kubernetes-embedded-resource"] == nil {
			s["x-kubernetes-preserve-unknown-fields"] = true
		}
	})
}

// newWords are those that the API has learned.
var newWords = []any{"Gte", "Lte", "Balanced", "Unhealthy"}

// forgetsNewWords knows the words of the first release only.
func forgetsNewWords(s node) {
	if words, ok := s["enum"].([]any); ok {
		s["enum"] = slices.DeleteFunc(words, func(word any) bool { return slices.Contains(newWords, word) })
	}
}

// takesStaticForDynamic forgets what a static pool may not say. As long as the
// number of replicas can be scaled, the API server itself wants it to be one.
func takesStaticForDynamic(crd lie.CRD) {
	pool := at(version(crd), "schema", "openAPIV3Schema", "properties", "spec")
	if replicas := child(pool, "properties", "replicas"); replicas != nil {
		delete(replicas, "minimum")
		delete(pool, rules)
		delete(at(version(crd), "subresources"), "scale")
	}
}

// refusesWhatIsAllowed restricts labels that are for users: those of Kubernetes'
// domains, and in NodeClaims the pool's name.
func refusesWhatIsAllowed(crd lie.CRD) {
	template := at(version(crd), "schema", "openAPIV3Schema", "properties", "spec", "properties")
	if inPool := child(template, "template"); inPool != nil {
		refuse(at(inPool, "properties", "metadata", "properties", "labels"),
			`self.all(x, !x.find("^([^/]+)").endsWith("kubernetes.io") && !x.find("^([^/]+)").endsWith("k8s.io"))`)
		template = at(inPool, "properties", "spec", "properties")
	}
	key := at(template, "requirements", "items", "properties", "key")
	refuse(key, `!(self in ["kubernetes.io/custom", "k8s.io/custom", "karpenter.sh/nodepool"])`)
}

func refuse(s node, rule string) {
	all, _ := s[rules].([]any)
	s[rules] = append(all, node{"rule": rule, "message": "that is for somebody else"})
}
