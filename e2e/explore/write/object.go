package write

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// object returns an expression that builds an object: of the builders of package fixtures if they can build it, and
// else its YAML.
func object(o map[string]any) (string, error) {
	if c := built(field{o}); c != nil && same(c.built.Interface().(fixtures.Object).Unstructured().Object, o) {
		return c.String(), nil
	}
	text, err := yaml.Marshal(o)
	if err == nil && strings.Contains(string(text), "`") {
		return fmt.Sprintf("explore.Manifest(%q)", text), nil
	}
	return fmt.Sprintf("explore.Manifest(`%s`)", text), err
}

// same reports whether objects are the same as JSON, where numbers have no types.
func same(a, b map[string]any) bool {
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

// built returns the calls for what is known of an object's kind; nil: there is no builder.
func built(o field) *chain {
	name, template := o.at("metadata", "name").text(), o.at("spec", "template")
	switch o.at("kind").text() {
	case "NodePool":
		return pool(o, begin("fixtures.NodePool", fixtures.NodePool).then("Called", name))
	case "NodeClaim":
		return nodeClaim(o, begin("fixtures.NodeClaim", fixtures.NodeClaim).then("Called", name))
	case "NodeOverlay":
		return overlay(o, begin("fixtures.NodeOverlay", fixtures.NodeOverlay).then("Called", name))
	case "Deployment":
		replicas := o.at("spec", "replicas").number()
		return pods(template, begin("fixtures.Deployment", fixtures.Deployment, replicas).then("Called", name))
	case "DaemonSet":
		return pods(template, begin("fixtures.DaemonSet", fixtures.DaemonSet).then("Called", name))
	case "Pod":
		return pods(o, begin("fixtures.Pod", fixtures.Pod).then("Called", name))
	case "RuntimeClass":
		overhead := o.at("overhead", "podFixed", "cpu").text()
		return begin("fixtures.Runtime", fixtures.Runtime, overhead).then("Called", name)
	case "PodDisruptionBudget":
		return podBudget(o, begin("fixtures.Deployment", fixtures.Deployment, 1).then("Called", name))
	case "CapacityBuffer":
		of := begin("fixtures.Deployment", fixtures.Deployment, 1).then("Called", o.at("spec", "scalableRef", "name").text())
		return buffer(o, begin("fixtures.CapacityBuffer", fixtures.CapacityBuffer, of).then("Called", name))
	}
	return nil
}

func pool(o field, c *chain) *chain {
	spec, template := o.at("spec"), o.at("spec", "template", "spec")
	each(o.at("metadata", "labels"), c, "OwnLabel")
	metadata(o.at("spec", "template", "metadata"), c, "Annotation")
	if class := template.at("nodeClassRef", "name").text(); class != "" {
		c.then("NodeClassCalled", class)
	}
	ofTemplate(template, c)
	if w := spec.at("weight"); w.any != nil {
		c.then("Weight", w.number())
	}
	if n := spec.at("replicas"); n.any != nil {
		c.then("Replicas", n.number())
	}
	each(spec.at("limits"), c, "Limit")
	disruption := spec.at("disruption")
	if policy := disruption.at("consolidationPolicy").text(); policy != "" {
		c.then("ConsolidationPolicy", policy)
	}
	if after := disruption.at("consolidateAfter").text(); after != never {
		c.then("ConsolidateAfter", after)
	}
	budgets(disruption.at("budgets"), c)
	return c
}

// never is what builders say of durations unless they are told.
const never = "Never"

func budgets(all field, c *chain) {
	if all.any == nil {
		c.then("DefaultBudgets")
	}
	for _, b := range all.list() {
		nodes := b.at("nodes").text()
		every, minutes, recurs := b.window()
		switch {
		case recurs:
			c.then("BudgetDuring", begin("fixtures.WindowEvery", fixtures.WindowEvery, every, minutes), nodes)
		case len(all.list()) > 1 || nodes != "100%" || b.at("reasons").any != nil:
			c.then("Budget", b.at("reasons").texts(nodes)...)
		}
	}
}

// ofTemplate adds what NodePools have in their template, and NodeClaims in their spec.
func ofTemplate(spec field, c *chain) {
	for _, t := range spec.at("taints").list() {
		key, effect := t.at("key").text(), t.at("effect").text()
		if value := t.at("value").text(); value != "" {
			c.then("TaintValue", key, value, effect)
		} else {
			c.then("Taint", key, effect)
		}
	}
	for _, t := range spec.at("startupTaints").list() {
		c.then("StartupTaint", t.at("key").text(), t.at("effect").text())
	}
	for _, r := range spec.at("requirements").list() {
		if n := r.at("minValues"); n.any != nil {
			c.then("MinValues", r.at("key").text(), n.number())
			continue
		}
		c.then("Require", r.at("values").texts(r.at("key").text(), r.at("operator").text())...)
	}
	switch age := spec.at("expireAfter").text(); age {
	case never:
	case "":
		c.then("DefaultExpireAfter")
	default:
		c.then("ExpireAfter", age)
	}
	if d := spec.at("terminationGracePeriod").text(); d != "" {
		c.then("TerminationGracePeriod", d)
	}
}

func nodeClaim(o field, c *chain) *chain {
	metadata(o.at("metadata"), c, "Annotation")
	ofTemplate(o.at("spec"), c)
	each(o.at("spec", "resources", "requests"), c, "Request")
	return c
}

func overlay(o field, c *chain) *chain {
	spec := o.at("spec")
	for _, r := range spec.at("requirements").list() {
		c.then("Require", r.at("values").texts(r.at("key").text(), r.at("operator").text())...)
	}
	if price := spec.at("price").text(); price != "" {
		c.then("Price", price)
	}
	if change := spec.at("priceAdjustment").text(); change != "" {
		c.then("PriceAdjustment", change)
	}
	each(spec.at("capacity"), c, "Capacity")
	if w := spec.at("weight"); w.any != nil {
		c.then("Weight", w.number())
	}
	return c
}

func podBudget(o field, c *chain) *chain {
	spec := o.at("spec")
	if n := spec.at("minAvailable"); n.any != nil {
		c.then("MinAvailable", n.number())
	} else {
		c.then("MaxUnavailable", spec.at("maxUnavailable").number())
	}
	if spec.at("unhealthyPodEvictionPolicy").any != nil {
		c.then("EvictUnready")
	}
	return c
}

func buffer(o field, c *chain) *chain {
	spec := o.at("spec")
	if n := spec.at("replicas"); n.any != nil {
		c.then("Pods", n.number())
	}
	if n := spec.at("percentage"); n.any != nil {
		c.then("Percentage", n.number())
	}
	each(spec.at("limits"), c, "Limit")
	return c
}

// metadata adds labels and annotations.
func metadata(m field, c *chain, annotation string, but ...string) {
	each(m.at("labels"), c, "Label", but...)
	each(m.at("annotations"), c, annotation)
}

// each calls a method for each entry of a mapping of strings, but for some.
func each(m field, c *chain, method string, but ...string) {
	for _, key := range m.keys() {
		if !slices.Contains(but, key) {
			c.then(method, key, m.at(key).text())
		}
	}
}
