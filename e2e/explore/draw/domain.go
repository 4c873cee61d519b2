package draw

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Domain is what the sequences for a provider can be made of.
type Domain struct {
	// Karpenter is the release of core, such as v1.15.0. Empty, or no version: it has everything.
	Karpenter     string                 `json:"karpenter,omitempty"`
	Zones         []string               `json:"zones,omitempty"`
	InstanceTypes []string               `json:"instanceTypes,omitempty"`
	CapacityTypes []string               `json:"capacityTypes,omitempty"`
	Capabilities  []providers.Capability `json:"capabilities,omitempty"`
	Hooks         []providers.HookName   `json:"hooks,omitempty"`
	// Requests are the kinds of the controller's requests that can be struck; none: no request can.
	Requests []string `json:"requests,omitempty"`
	// Refused are features that no sequence has, since the API server refuses them.
	Refused []string `json:"refused,omitempty"`
}

// mostTypes limits how many instance types sequences name. A provider has hundreds.
const mostTypes = 24

// DomainOf returns what sequences can be made of, by the adapter, by the release of core, by how many requests of each
// kind the controller has made that can be struck, and by a recording of the provider: the zones that nodes have had,
// and the instance types that NodeClaims allow.
func DomainOf(a *providers.Adapter, core string, requests map[string]int, h *history.History) Domain {
	d := Domain{Karpenter: core}
	for _, c := range providers.Capabilities() {
		if can, _ := a.Supports(c); can {
			d.Capabilities = append(d.Capabilities, c)
		}
	}
	for _, h := range providers.HookNames() {
		if has, _ := a.Has(h); has {
			d.Hooks = append(d.Hooks, h)
		}
	}
	d.CapacityTypes = []string{karpenter.OnDemand}
	if d.can(providers.Spot) {
		d.CapacityTypes = append(d.CapacityTypes, karpenter.Spot)
	}
	if len(requests) > 0 {
		d.Requests = slices.Concat(slices.Sorted(maps.Keys(requests)), watches)
	}
	zones, types := map[string]bool{}, map[string]bool{}
	for _, event := range h.Events() {
		switch u := event.Object.Unstructured(); event.Resource {
		case karpenter.Nodes:
			zones[karpenter.Label(u, corev1.LabelTopologyZone)] = true
		case karpenter.NodeClaims:
			for _, t := range allowed(u.Object, corev1.LabelInstanceTypeStable) {
				types[t] = true
			}
		}
	}
	delete(zones, "")
	d.Zones, d.InstanceTypes = slices.Sorted(maps.Keys(zones)), spread(slices.Sorted(maps.Keys(types)), mostTypes)
	return d
}

// watches are kinds of requests that every Karpenter makes.
var watches = []string{
	"watch nodeclaims.karpenter.sh", "watch nodepools.karpenter.sh", "watch nodes", "watch pods",
}

// allowed returns the values of a label that a NodeClaim's requirements list, or those of a NodePool's template.
func allowed(nodeClaim map[string]any, label string) (values []string) {
	for _, r := range requirementsOf(nodeClaim, label) {
		some, _, _ := unstructured.NestedStringSlice(r, "values")
		values = append(values, some...)
	}
	return values
}

// requirementsOf returns a NodeClaim's requirements about a label, or those of a NodePool's template.
func requirementsOf(nodeClaim map[string]any, label string) (all []map[string]any) {
	requirements, _, _ := unstructured.NestedSlice(nodeClaim, "spec", "requirements")
	for _, r := range requirements {
		if r, ok := r.(map[string]any); ok && r["key"] == label {
			all = append(all, r)
		}
	}
	return all
}

// spread returns at most n of a sorted list, from all over it.
func spread(all []string, n int) (some []string) {
	for i := range min(n, len(all)) {
		some = append(some, all[i*len(all)/min(n, len(all))])
	}
	return some
}

func (d Domain) can(c providers.Capability) bool { return slices.Contains(d.Capabilities, c) }

func (d Domain) has(h providers.HookName) bool { return slices.Contains(d.Hooks, h) }
