package providers

import (
	"fmt"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Capability names something that one provider can do and another cannot. A spec lists the
// capabilities that it needs. If one is missing, the spec is skipped, and the report says why.
type Capability string

const (
	// NodePools: pending pods make the provider launch nodes for a NodePool.
	NodePools Capability = "nodePools"
	// StandaloneNodeClaims: a NodeClaim that belongs to no NodePool gets a node.
	StandaloneNodeClaims Capability = "standaloneNodeClaims"
	// NodeClassDrift: a change of the NodeClass, or of what it selects, drifts
	// nodes. Support.Reasons lists the reasons that the provider gives.
	NodeClassDrift Capability = "nodeClassDrift"
	// NodeClassReadiness: nothing is launched while the NodeClass is not ready.
	NodeClassReadiness Capability = "nodeClassReadiness"
	// NodeClassStatus: the provider looks after its NodeClasses, and says in their conditions whether
	// they are ready.
	NodeClassStatus Capability = "nodeClassStatus"
	// NodeClassHash: a NodeClass and the NodeClaims that are launched with it have the NodeClass's hash
	// in the annotation Support.Annotation, and its version in one of that name and "-version".
	NodeClassHash Capability = "nodeClassHash"
	// Images: a NodeClaim's status.imageID says from which image its machine was started.
	Images Capability = "images"
	// Spot: the provider offers karpenter.sh/capacity-type=spot.
	Spot Capability = "spot"
	// Zones: one NodePool can have nodes in two or more zones (topology.kubernetes.io/zone).
	Zones Capability = "zones"
	// Interruption: the cloud announces the end of an instance and the
	// provider drains its node in time.
	Interruption Capability = "interruption"
	// InstanceGC: an instance without a NodeClaim is collected within Support.Within.
	InstanceGC Capability = "instanceGC"
	// NodeRepair: a node is replaced after it had Support.Condition for Support.Toleration.
	NodeRepair Capability = "nodeRepair"
	// NodeReboot: a node is rebooted in place after it had Support.Condition for Support.Toleration
	// (core 1.15 and later).
	NodeReboot Capability = "nodeReboot"
	// StaticCapacity: a NodePool with replicas keeps that many nodes (core 1.8 and later).
	StaticCapacity Capability = "staticCapacity"
	// NodeOverlay: NodeOverlays change price and capacity of instance types (core 1.8 and later).
	NodeOverlay Capability = "nodeOverlay"
	// CapacityBuffer: a CapacityBuffer keeps room for future pods (core 1.14 and later).
	CapacityBuffer Capability = "capacityBuffer"
	// PodDeletionCost: the deletion costs of pods tell ReplicaSets which node Karpenter would rather
	// remove (core 1.15 and later).
	PodDeletionCost Capability = "podDeletionCost"
	// DynamicResources: pods that claim devices (resource.k8s.io) get nodes that reach them, if the setting
	// IGNORE_DRA_REQUESTS is false (core 1.14 and later).
	DynamicResources Capability = "dynamicResources"
	// Conversion: NodePools and NodeClaims are served in v1beta1 as well, and the provider's webhook
	// converts them (core 1.0).
	Conversion Capability = "conversion"
	// NodeClassConversion: so are NodeClasses. Support.NodeClasses says what they say in both versions.
	NodeClassConversion Capability = "nodeClassConversion"
)

// Capabilities returns all capabilities, in the order of the documentation.
func Capabilities() []Capability {
	return []Capability{
		NodePools, StandaloneNodeClaims, NodeClassDrift, NodeClassReadiness, NodeClassStatus, NodeClassHash, Images,
		Spot, Zones, Interruption, InstanceGC, NodeRepair, NodeReboot, StaticCapacity, NodeOverlay, CapacityBuffer,
		PodDeletionCost, DynamicResources, Conversion, NodeClassConversion,
	}
}

// State says whether a provider has a capability.
type State string

// The zero value means Supported, so parameters alone suffice.
const (
	Supported   State = "supported"
	Unsupported State = "unsupported"
	Unknown     State = "unknown"
)

// Support says whether and how a provider supports one capability. In YAML it is
// the state, or a mapping with parameters.
type Support struct {
	State State `yaml:"support"`
	// Why is the reason, for reports, if the capability is not supported.
	Why string `yaml:"why"`
	// Gate is the feature gate that controller.gates must turn on.
	Gate string `yaml:"gate"`
	// Since is the first release of Karpenter core that has the capability, as
	// major.minor. Empty: every release.
	Since string `yaml:"since"`
	// Until is the first release of Karpenter core that has it no more, as major.minor. Empty: none.
	Until string `yaml:"until"`
	// Reasons are the drift reasons that the provider gives.
	Reasons []string `yaml:"reasons"`
	// Annotation is the key of the annotation with a NodeClass's hash.
	Annotation string `yaml:"annotation"`
	// Within is the longest time that the provider takes, for example to collect a leaked
	// instance.
	Within time.Duration `yaml:"within"`
	// Toleration is how long an unhealthy node is left alone.
	Toleration time.Duration `yaml:"toleration"`
	// Condition makes a node unhealthy, or require a reboot. Nothing but specs may set it, except
	// Ready: specs stop the node's kubelet then, and its status should be Unknown, as Kubernetes
	// makes it.
	Condition NodeCondition `yaml:"condition"`
	// NodeClasses are examples of NodeClasses in two versions, by names of your choice, which are DNS labels.
	// They say what the adapter's nodeClass says, unless they say otherwise.
	NodeClasses map[string]NodeClassVersions `yaml:"nodeClasses"`
}

// NodeClassVersions is what one NodeClass says in two versions of its API. Each part has spec, and metadata
// where a conversion needs annotations. A field that is null must be absent in this version.
type NodeClassVersions struct {
	// Both is what it says in both versions.
	Both map[string]any `yaml:"both"`
	// V1Beta1 and V1 are what it says in one of them, beside Both.
	V1Beta1 map[string]any `yaml:"v1beta1"`
	V1      map[string]any `yaml:"v1"`
	// Written is the version in which it can be written, v1beta1 or v1, if the other can't say all of it.
	// Empty: either.
	Written string `yaml:"written"`
}

// In returns what a NodeClass says in a version, v1beta1 or v1, beside what it says in both.
func (v NodeClassVersions) In(version string) map[string]any {
	if version == karpenter.V1Beta1 {
		return v.V1Beta1
	}
	return v.V1
}

// NodeCondition is a condition of a node, such as {type: GPUFailed, status: "True"}.
type NodeCondition struct {
	Type   string `yaml:"type"`
	Status string `yaml:"status"`
	// Reason is the condition's reason, if the provider tells faults apart by it. Empty: any.
	Reason string `yaml:"reason"`
}

// Has tells whether the adapter has a hook. If not, why says so for reports.
func (a *Adapter) Has(h HookName) (ok bool, why string) {
	if _, there := a.Hooks[h]; there {
		return true, ""
	}
	return false, fmt.Sprintf("the adapter of %s has no hook %s", a.Name, h)
}

// Supports tells whether specs that need a capability can run, and if not, why.
func (a *Adapter) Supports(c Capability) (ok bool, why string) {
	s, listed := a.Capabilities[c]
	switch {
	case !slices.Contains(Capabilities(), c):
		return false, fmt.Sprintf("there is no capability %s%s", c, hint(string(c), Capabilities()))
	case !listed || s.State == Unknown:
		return false,
			withReason(fmt.Sprintf("it is unknown whether %s supports %s; its adapter can say so under capabilities",
				a.Name, c), s.Why)
	case s.State == Unsupported:
		return false, withReason(fmt.Sprintf("%s does not support %s", a.Name, c), s.Why)
	case s.Gate != "" && !a.Controller.Gates[s.Gate]:
		return false, fmt.Sprintf("%s needs the feature gate %s, which the adapter of %s does not turn on; "+
			"GATES=%s=true does", c, s.Gate, a.Name, s.Gate)
	}
	return true, ""
}

func withReason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}
