package karpenter

// Releases of Karpenter from which on it has what it did not have in v1.0.
const (
	OverlaysSince       = "1.8"
	StaticCapacitySince = "1.8"
	NodeLimitsSince     = "1.11" // limits of a NodePool that count nodes; accepted before, without effect
	BuffersSince        = "1.14"
)
