package karpenter

// Labels of nodes and NodeClaims (Karpenter: pkg/apis/v1/labels.go).
const (
	// NodePoolLabel names the NodePool that a NodeClaim or node belongs to.
	NodePoolLabel = Group + "/nodepool"
	// CapacityTypeLabel is spot, on-demand or reserved.
	CapacityTypeLabel = Group + "/capacity-type"
	// RegisteredLabel is "true" on a node that Karpenter has matched to its NodeClaim.
	RegisteredLabel = Group + "/registered"
	// InitializedLabel is "true" on a ready node with its resources and without startup
	// taints.
	InitializedLabel = Group + "/initialized"
	// DoNotSyncTaintsLabel keeps Karpenter from syncing a NodeClaim's taints to its node. Not
	// in v1.1, in v1.5.
	DoNotSyncTaintsLabel = Group + "/do-not-sync-taints"
)

// Values of CapacityTypeLabel.
const (
	Spot     = "spot"
	OnDemand = "on-demand"
	Reserved = "reserved" // not in v1.1, in v1.5
)

// Taints of nodes (Karpenter: pkg/apis/v1/taints.go).
const (
	// DisruptedTaint (NoSchedule) is on a node that Karpenter disrupts or terminates.
	DisruptedTaint = Group + "/disrupted"
	// UnregisteredTaint (NoExecute) is on a new node until Karpenter registers it.
	UnregisteredTaint = Group + "/unregistered"
	// RebootingTaint (NoSchedule) is on a node that Karpenter reboots, until it has booted. Not in
	// v1.14, in v1.15.
	RebootingTaint = Group + "/rebooting"
)

// Annotations (Karpenter: pkg/apis/v1/labels.go).
const (
	// DoNotDisruptAnnotation: "true" on a pod, node or NodeClaim forbids voluntary disruption.
	DoNotDisruptAnnotation = Group + "/do-not-disrupt"
	// NodePoolHashAnnotation is the hash of the NodePool's static template fields. A NodeClaim
	// with another hash than its pool's has drifted.
	NodePoolHashAnnotation = Group + "/nodepool-hash"
	// NodePoolHashVersionAnnotation is the version of that hash's algorithm.
	NodePoolHashVersionAnnotation = Group + "/nodepool-hash-version"
	// TerminationTimestampAnnotation on a NodeClaim is its node's drain deadline (RFC 3339).
	TerminationTimestampAnnotation = Group + "/nodeclaim-termination-timestamp"
	// MinValuesRelaxedAnnotation says of a NodeClaim whether it has fewer values than its NodePool's minValues:
	// "true" or "false".
	MinValuesRelaxedAnnotation = Group + "/nodeclaim-min-values-relaxed"
	// DisruptionCostAnnotation on a pod is what its user says that moving it costs. Not in v1.14, in
	// v1.15.
	DisruptionCostAnnotation = Group + "/disruption-cost"
)

// TerminationFinalizer is on nodes and NodeClaims until Karpenter has drained the node and the
// instance is gone (Karpenter: pkg/apis/v1/labels.go).
const TerminationFinalizer = Group + "/termination"

// Condition types of a NodeClaim (Karpenter: pkg/apis/v1/nodeclaim_status.go). Drained and
// VolumesDetached are not in v1.5, but in v1.6. DisruptionReason is not in v1.1, but in v1.5. Rebooting is
// not in v1.14, but in v1.15.
const (
	Launched             = "Launched"
	Registered           = "Registered"
	Initialized          = "Initialized"
	Consolidatable       = "Consolidatable"
	Drifted              = "Drifted"
	Drained              = "Drained"
	VolumesDetached      = "VolumesDetached"
	InstanceTerminating  = "InstanceTerminating"
	ConsistentStateFound = "ConsistentStateFound"
	DisruptionReason     = "DisruptionReason"
	Rebooting            = "Rebooting"
)

// Condition types of a NodePool (Karpenter: pkg/apis/v1/nodepool_status.go).
// NodeRegistrationHealthy is not in v1.1, but in v1.5.
const (
	ValidationSucceeded     = "ValidationSucceeded"
	NodeClassReady          = "NodeClassReady"
	NodeRegistrationHealthy = "NodeRegistrationHealthy"
)

// ReasonAwaiting is the reason of a condition that Karpenter has not decided yet (operatorpkg:
// status/condition_set.go).
const ReasonAwaiting = "AwaitingReconciliation"

// Ready is the condition type that sums up the others of a node or pod (Kubernetes), or of a
// NodeClaim, NodePool or NodeClass (Karpenter).
const Ready = "Ready"

// EventSource is the component of Karpenter's events (pkg/operator/operator.go, appName).
const EventSource = "karpenter"

// Reasons of Karpenter's events (Karpenter: pkg/events/reason.go).
const (
	ReasonFailedScheduling      = "FailedScheduling"          // on a pod that no NodePool can serve
	ReasonNominated             = "Nominated"                 // on a pod for which Karpenter has chosen a node
	ReasonDisruptionTerminating = "DisruptionTerminating"     // on a node and its NodeClaim
	ReasonDisruptionBlocked     = "DisruptionBlocked"         // on a node, NodeClaim or NodePool
	ReasonUnconsolidatable      = "Unconsolidatable"          // on a node or NodeClaim
	ReasonEvicted               = "Evicted"                   // on a pod that a drain evicted
	ReasonNodeClassNotReady     = "NodeClassNotReady"         // on a NodeClaim
	ReasonInsufficientCapacity  = "InsufficientCapacityError" // on a NodeClaim
)
