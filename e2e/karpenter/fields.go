package karpenter

// Paths of the fields that accessors read, dot-separated, by kind. A list is
// stepped into without an index. The test of this package looks each of them
// up in the CRDs of the releases under testdata.
const (
	fieldConditions = "status.conditions"       // every kind with conditions
	fieldNodeName   = "status.nodeName"         // NodeClaim
	fieldProviderID = "status.providerID"       // NodeClaim
	fieldCapacity   = "status.capacity"         // NodeClaim
	fieldAllocate   = "status.allocatable"      // NodeClaim
	fieldClaimTaint = "spec.taints"             // NodeClaim
	fieldRequests   = "spec.resources.requests" // NodeClaim
)
