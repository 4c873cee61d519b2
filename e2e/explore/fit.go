package explore

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/providers"
)

// CheckFor returns an error with all that an adapter lacks for the sequence.
func (s Sequence) CheckFor(a *providers.Adapter) error {
	var lacks []error
	if s.Provider != "" && s.Provider != a.Name {
		lacks = append(lacks, fmt.Errorf("it was made for the provider %s, not %s: its zones and instance types are others",
			s.Provider, a.Name))
	}
	for i, action := range s.Actions {
		if why := action.lacks(a); why != "" {
			lacks = append(lacks, fmt.Errorf("action %d, %s: %s", i+1, action, why))
		}
	}
	return errors.Join(lacks...)
}

// lacks returns why an action can't be done with an adapter, or "".
func (a Action) lacks(adapter *providers.Adapter) string {
	if a.Do == CallHook {
		_, why := adapter.Has(a.Hook)
		return why
	}
	if c := a.needs(); c != "" {
		_, why := adapter.Supports(c)
		return why
	}
	return ""
}

// Needs returns the capabilities that the sequence needs.
func (s Sequence) Needs() (all []providers.Capability) {
	for _, a := range s.Actions {
		if c := a.needs(); c != "" {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// needs returns the capability that an action needs; empty: none.
func (a Action) needs() providers.Capability {
	if a.Do == BreakNode {
		return providers.NodeRepair
	}
	if a.Do == RebootNode {
		return providers.NodeReboot
	}
	if a.Do != Apply {
		return ""
	}
	switch a.object().GetKind() {
	case "NodeClaim":
		return providers.StandaloneNodeClaims
	case "CapacityBuffer":
		return providers.CapacityBuffer
	case "NodeOverlay":
		return providers.NodeOverlay
	case "NodePool":
		if _, static, _ := unstructured.NestedFieldNoCopy(a.Object, "spec", "replicas"); static {
			return providers.StaticCapacity
		}
		return providers.NodePools
	}
	return ""
}
