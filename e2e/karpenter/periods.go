package karpenter

import "time"

// Karpenter's periods, as they are by default, each with the file of Karpenter that has it
// (v1.15.0).
const (
	// BatchIdle is how long after the last pod a batch is closed
	// (pkg/operator/options/options.go, batch-idle-duration).
	BatchIdle = time.Second
	// BatchMax is how long a batch stays open at most (the same, batch-max-duration).
	BatchMax = 10 * time.Second
	// PodRetry is how often a pod that waits is tried for
	// (pkg/controllers/provisioning/controller.go).
	PodRetry = 10 * time.Second
	// DaemonPoll is how often the pods of a DaemonSet are looked at
	// (pkg/controllers/state/informer/daemonset.go).
	DaemonPoll = time.Minute
	// Nomination is how long a node is left alone for which a pod was meant: twice the longest
	// batch (pkg/controllers/state/statenode.go, nominationWindow).
	Nomination = 2 * BatchMax
	// DisruptionPoll is how often nodes are looked for that may be disrupted; right after one
	// was, the next is looked for (pkg/controllers/disruption/controller.go, pollingPeriod).
	DisruptionPoll = 10 * time.Second
	// ConsolidationDelay is how long a consolidation is thought over
	// (pkg/controllers/disruption/consolidation.go, commandValidationDelay).
	ConsolidationDelay = 15 * time.Second
	// ReplacementTimeout is how long a replacement is waited for before its disruption is given
	// up (pkg/controllers/disruption/queue.go, minRetryDuration).
	ReplacementTimeout = 10 * time.Minute
	// DrainPoll is how often a node that is drained is looked at
	// (pkg/controllers/node/termination/controller.go).
	DrainPoll = time.Second
	// MinDrain is how long a node is drained at least (the same, MinDrainTime).
	MinDrain = 5 * time.Second
	// EvictionRetry is how long after a pod could not be evicted that is tried again at the
	// latest (pkg/controllers/node/termination/terminator/eviction.go, evictionQueueMaxDelay).
	EvictionRetry = 10 * time.Second
	// InstancePoll is how often a cloud is asked whether an instance has ended
	// (pkg/controllers/node/termination/controller.go, awaitInstanceTermination).
	InstancePoll = 5 * time.Second
	// StuckPod is how long after its time a pod that doesn't end is waited for
	// (pkg/utils/pod/scheduling.go, IsStuckTerminating).
	StuckPod = time.Minute
	// InstanceComparison is how often NodeClaims are compared with the cloud's instances
	// (pkg/controllers/nodeclaim/garbagecollection/controller.go).
	InstanceComparison = 2 * time.Minute
	// LaunchTimeout is when a NodeClaim that can't be launched is given up
	// (pkg/controllers/nodeclaim/lifecycle/liveness.go).
	LaunchTimeout = 5 * time.Minute
	// RegistrationTimeout is when one is given up whose node isn't registered (the same).
	RegistrationTimeout = 15 * time.Minute
	// PodEventMerge is how long pods that come or go at a node are told of as one
	// (pkg/controllers/nodeclaim/podevents/controller.go, dedupeTimeout).
	PodEventMerge = 10 * time.Second
	// BufferPoll is how often a CapacityBuffer is looked at
	// (pkg/controllers/capacitybuffer/controller.go).
	BufferPoll = 30 * time.Second
)

// What is over for certain when so much time has passed: sums of the periods, and what a busy
// machine may add.
const (
	// Settled is when Karpenter has done what it does at once, a batch of pods has been closed,
	// and the scheduler has looked at every change of a node.
	Settled = BatchIdle + 4*time.Second
	// PodsRetried is when pods that got no node have been tried for again.
	PodsRetried = PodRetry + 5*time.Second
	// NominationOver is when no node is left alone any more because a pod was meant for it. What
	// else keeps a node from being disrupted is put to the test only then. Specs with several
	// nodes let it pass before they change anything: if Karpenter looks while it leaves some
	// of them alone, it looks at these again only when pods or nodes change, or after five
	// minutes.
	NominationOver = Nomination + time.Second
	// ConsolidationBegun is when a consolidation is being thought over.
	ConsolidationBegun = DisruptionPoll + 2*time.Second
	// ConsolidationDecided is when one has been decided, after another node was disrupted.
	ConsolidationDecided = ConsolidationDelay + 3*time.Second
	// DisruptionPolled is when nodes have been looked for that may be disrupted.
	DisruptionPolled = 2 * DisruptionPoll
	// DrainPolled is when a drain would be over that nothing held.
	DrainPolled = MinDrain + 2*DrainPoll
	// DrainEnded is how long after its deadline a drain is over.
	DrainEnded = EvictionRetry + MinDrain
	// InstanceEnded is how long after its node's deadline an instance is being ended.
	InstanceEnded = DrainEnded + InstancePoll
)
