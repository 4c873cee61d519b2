package karpenter

// Paths of the fields of Karpenter's kinds that accessors read, dot-separated.
// The test of this package looks each of them up in the CRDs of the releases
// under testdata. Nodes have conditions, taints, capacity and allocatable at the
// same paths.
const (
	fieldConditions  = "status.conditions"       // NodeClaim, NodePool
	fieldNodeName    = "status.nodeName"         // NodeClaim
	fieldProviderID  = "status.providerID"       // NodeClaim
	fieldCapacity    = "status.capacity"         // NodeClaim
	fieldAllocatable = "status.allocatable"      // NodeClaim
	fieldTaints      = "spec.taints"             // NodeClaim
	fieldRequests    = "spec.resources.requests" // NodeClaim
	fieldRequired    = "spec.requirements"       // NodeClaim
)
