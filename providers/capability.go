package providers

import (
	"fmt"
	"slices"
	"time"
)

// Capability names something that one provider can do and another cannot. A
// spec lists those that it needs and is skipped, with the reason, where one is
// missing.
type Capability string

const (
	// NodePools: pending pods make the provider launch nodes for a NodePool.
	NodePools Capability = "nodePools"
	// StandaloneNodeClaims: a NodeClaim that belongs to no NodePool gets a node.
	StandaloneNodeClaims Capability = "standaloneNodeClaims"
	// NodeClassDrift: a change of the NodeClass, or of what it selects, drifts
	// nodes. Support.Reasons lists the reasons that the provider gives.
	NodeClassDrift Capability = "nodeClassDrift"
	// NodeClassReadiness: a NodeClass can be not ready, and then nothing is launched.
	NodeClassReadiness Capability = "nodeClassReadiness"
	// Spot: the provider offers karpenter.sh/capacity-type=spot.
	Spot Capability = "spot"
	// Zones: nodes of one NodePool can be in two zones or more, by topology.kubernetes.io/zone.
	Zones Capability = "zones"
	// Interruption: the cloud announces the end of an instance and the
	// provider drains its node in time.
	Interruption Capability = "interruption"
	// InstanceGC: an instance without a NodeClaim is collected, no later than Support.Within.
	InstanceGC Capability = "instanceGC"
	// NodeRepair: a node that stays unhealthy, as Support.Condition says, is
	// replaced after Support.Toleration.
	NodeRepair Capability = "nodeRepair"
	// StaticCapacity: a NodePool with replicas keeps that many nodes (core 1.8 and later).
	StaticCapacity Capability = "staticCapacity"
	// NodeOverlay: NodeOverlays change prices and capacity of instance types (core 1.8 and later).
	NodeOverlay Capability = "nodeOverlay"
	// CapacityBuffer: a CapacityBuffer keeps room for pods that are still to come
	// (core 1.14 and later).
	CapacityBuffer Capability = "capacityBuffer"
)

// Capabilities lists all of them, in the order of the documentation.
func Capabilities() []Capability {
	return []Capability{
		NodePools, StandaloneNodeClaims, NodeClassDrift, NodeClassReadiness, Spot, Zones, Interruption,
		InstanceGC, NodeRepair, StaticCapacity, NodeOverlay, CapacityBuffer,
	}
}

// State says whether a provider has a capability.
type State string

// The states. The zero value counts as Supported, so that a capability with
// parameters alone is one that the provider has.
const (
	Supported   State = "supported"
	Unsupported State = "unsupported"
	Unknown     State = "unknown"
)

// Support is a provider's relation to one capability: in YAML just its state,
// or a mapping with parameters.
type Support struct {
	State State `yaml:"support"`
	// Why says why it is not supported, for the report.
	Why string `yaml:"why"`
	// Gate is the feature gate that must be on (in controller.gates).
	Gate string `yaml:"gate"`
	// Since is the first release of Karpenter core with which the provider has
	// it, as major.minor. Empty: every release.
	Since string `yaml:"since"`
	// Reasons are the drift reasons that the provider gives.
	Reasons []string `yaml:"reasons"`
	// Within bounds how long the provider takes, such as until a leaked instance is gone.
	Within time.Duration `yaml:"within"`
	// Toleration is how long an unhealthy node is left alone.
	Toleration time.Duration `yaml:"toleration"`
	// Condition makes a node unhealthy, and isn't set by anything else.
	Condition NodeCondition `yaml:"condition"`
}

// NodeCondition is a condition of a node, such as {type: GPUFailed, status: "True"}.
type NodeCondition struct {
	Type   string `yaml:"type"`
	Status string `yaml:"status"`
}

// Has tells whether the adapter has a hook, and if not, says so.
func (a *Adapter) Has(h HookName) (ok bool, why string) {
	if _, there := a.Hooks[h]; there {
		return true, ""
	}
	return false, fmt.Sprintf("the adapter of %s has no hook %s", a.Name, h)
}

// Supports tells whether specs that need c can run, and if not, why.
func (a *Adapter) Supports(c Capability) (ok bool, why string) {
	s, listed := a.Capabilities[c]
	switch {
	case !slices.Contains(Capabilities(), c):
		return false, fmt.Sprintf("there is no capability %s%s", c, hint(string(c), Capabilities()))
	case !listed || s.State == Unknown:
		return false, because(fmt.Sprintf("it is unknown whether %s supports %s; its adapter can say so under capabilities", a.Name, c), s.Why)
	case s.State == Unsupported:
		return false, because(fmt.Sprintf("%s does not support %s", a.Name, c), s.Why)
	case s.Gate != "" && !a.Controller.Gates[s.Gate]:
		return false, fmt.Sprintf("%s needs the feature gate %s, which the adapter of %s does not turn on; GATES=%s=true does", c, s.Gate, a.Name, s.Gate)
	}
	return true, ""
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
