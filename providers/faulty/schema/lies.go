// Package schema holds lies about broken CRDs: the API server accepts what it should refuse,
// or sets other defaults.
package schema

import (
	"maps"
	"slices"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// Lies returns the lies of the schema level: the controller is honest, but the CRDs of
// NodePools and NodeClaims differ from Karpenter's.
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
		"serves-an-old-version":     {CRD: servesAnOldVersion},
	}
}

// UpgradeLies returns the lies of a release whose CRDs don't fit what is stored.
func UpgradeLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"refuses-what-is-stored":   {CRD: refusesLightPools},
		"refuses-fractions-stored": {CRD: refusesFractions},
	}
}

// refusesLightPools refuses every write of a pool with a small weight. A rule about the whole spec is
// checked whenever any part of it changes.
func refusesLightPools(crd lie.CRD) {
	pool := at(version(crd), "schema", "openAPIV3Schema", "properties", "spec")
	if child(pool, "properties", "weight") != nil {
		refuse(pool, "!has(self.weight) || self.weight > 50")
	}
}

// refusesFractions refuses every write of a pool that has a fraction of a second somewhere, which early releases took.
// A rule about a duration alone would leave pools alone whose duration stays.
func refusesFractions(crd lie.CRD) {
	pool := at(version(crd), "schema", "openAPIV3Schema", "properties", "spec")
	if child(pool, "properties", "disruption") != nil {
		refuse(pool, "!self.disruption.consolidateAfter.contains('.') && (!has(self.template.spec.expireAfter) || "+
			"!self.template.spec.expireAfter.contains('.'))")
	}
}

// rules is the key of a schema's CEL rules.
const rules = "x-kubernetes-validations"

// checksNoValues drops all checks of a value's form and size, and all CEL rules.
func checksNoValues(s node) {
	for _, check := range []string{
		"pattern", "enum", "minimum", "maximum", "minLength", "maxLength", "maxItems",
		"maxProperties",
	} {
		delete(s, check)
	}
	if s["x-kubernetes-list-type"] == "set" {
		s["x-kubernetes-list-type"] = "atomic"
	}
	delete(s, rules)
}

// wantsNothing makes every field optional.
func wantsNothing(s node) {
	delete(s, "required")
	delete(s, rules) // they refer to required fields
}

// keepsUnknownFields makes the API server accept and keep unknown fields.
func keepsUnknownFields(crd lie.CRD) {
	walk(at(version(crd), "schema", "openAPIV3Schema"), func(s node) {
		if s["type"] == "object" && s["properties"] != nil && s["x-kubernetes-embedded-resource"] == nil {
			s["x-kubernetes-preserve-unknown-fields"] = true
		}
	})
}

// servesAnOldVersion serves what is stored as v1beta1, too, which nothing converts.
func servesAnOldVersion(crd lie.CRD) {
	old := maps.Clone(version(crd))
	old["name"], old["storage"] = "v1beta1", false
	versions, _ := at(crd, "spec")["versions"].([]any)
	at(crd, "spec")["versions"] = append(versions, old)
}

// newWords are enum values that were added after the first release.
var newWords = []any{"Gte", "Lte", "Balanced", "Unhealthy"}

func forgetsNewWords(s node) {
	if words, ok := s["enum"].([]any); ok {
		s["enum"] = slices.DeleteFunc(words, func(word any) bool { return slices.Contains(newWords, word) })
	}
}

// takesStaticForDynamic drops the rules about static pools. It also drops the scale
// subresource: with it, the API server itself checks the number of replicas.
func takesStaticForDynamic(crd lie.CRD) {
	pool := at(version(crd), "schema", "openAPIV3Schema", "properties", "spec")
	if replicas := child(pool, "properties", "replicas"); replicas != nil {
		delete(replicas, "minimum")
		delete(pool, rules)
		delete(at(version(crd), "subresources"), "scale")
	}
}

// refusesWhatIsAllowed restricts labels that users may set: those in Kubernetes' domains and,
// in NodeClaims, the pool's name.
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
	s[rules] = append(all, node{"rule": rule, "message": "this is reserved"})
}
