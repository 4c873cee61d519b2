package karpenter

// Dot-separated paths of the fields that accessors read. A test looks them up in the CRDs
// under testdata. Nodes have conditions, taints, capacity and allocatable at the same paths.
const (
	fieldConditions  = "status.conditions"       // NodeClaim, NodePool
	fieldNodeName    = "status.nodeName"         // NodeClaim
	fieldProviderID  = "status.providerID"       // NodeClaim
	fieldImageID     = "status.imageID"          // NodeClaim
	fieldCapacity    = "status.capacity"         // NodeClaim
	fieldAllocatable = "status.allocatable"      // NodeClaim
	fieldTaints      = "spec.taints"             // NodeClaim
	fieldRequests    = "spec.resources.requests" // NodeClaim
	fieldRequired    = "spec.requirements"       // NodeClaim
	fieldExpireAfter = "spec.expireAfter"        // NodeClaim
	fieldBudgets     = "spec.disruption.budgets" // NodePool
)
