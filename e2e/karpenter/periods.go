package karpenter

import "time"

// Karpenter's default periods. Each comment names the defining file of Karpenter v1.15.0.
const (
	// BatchIdle is how long Karpenter waits for more pods before it closes a batch
	// (pkg/operator/options/options.go, batch-idle-duration).
	BatchIdle = time.Second
	// BatchMax is the longest time that a batch stays open (same file, batch-max-duration).
	BatchMax = 10 * time.Second
	// PodRetry is how often Karpenter retries pending pods
	// (pkg/controllers/provisioning/controller.go).
	PodRetry = 10 * time.Second
	// DaemonPoll is how often Karpenter reads a DaemonSet's pods
	// (pkg/controllers/state/informer/daemonset.go).
	DaemonPoll = time.Minute
	// Nomination is how long Karpenter does not disrupt a node that it nominated for a pod:
	// twice the longest batch (pkg/controllers/state/statenode.go, nominationWindow).
	Nomination = 2 * BatchMax
	// DisruptionPoll is how often Karpenter looks for nodes to disrupt. After a disruption it
	// looks again at once (pkg/controllers/disruption/controller.go, pollingPeriod).
	DisruptionPoll = 10 * time.Second
	// ConsolidationDelay is how long Karpenter waits before it validates a consolidation
	// (pkg/controllers/disruption/consolidation.go, commandValidationDelay).
	ConsolidationDelay = 15 * time.Second
	// ReplacementTimeout is how long a disruption waits for its replacement before Karpenter
	// gives it up (pkg/controllers/disruption/queue.go, minRetryDuration).
	ReplacementTimeout = 10 * time.Minute
	// DrainPoll is how often Karpenter checks a drain
	// (pkg/controllers/node/termination/controller.go).
	DrainPoll = time.Second
	// MinDrain is the shortest drain of a node (same file, MinDrainTime).
	MinDrain = 5 * time.Second
	// EvictionRetry is the longest delay before Karpenter retries a failed eviction
	// (pkg/controllers/node/termination/terminator/eviction.go, evictionQueueMaxDelay).
	EvictionRetry = 10 * time.Second
	// InstancePoll is how often Karpenter asks the cloud whether an instance has ended
	// (pkg/controllers/node/termination/controller.go, awaitInstanceTermination).
	InstancePoll = 5 * time.Second
	// StuckPod is how long Karpenter waits for a pod that does not end in time
	// (pkg/utils/pod/scheduling.go, IsStuckTerminating).
	StuckPod = time.Minute
	// InstanceComparison is how often Karpenter compares NodeClaims with the cloud's instances
	// (pkg/controllers/nodeclaim/garbagecollection/controller.go).
	InstanceComparison = 2 * time.Minute
	// LaunchTimeout is when Karpenter gives up a NodeClaim that it can't launch
	// (pkg/controllers/nodeclaim/lifecycle/liveness.go).
	LaunchTimeout = 5 * time.Minute
	// RegistrationTimeout is when Karpenter gives up an unregistered NodeClaim (same file).
	RegistrationTimeout = 15 * time.Minute
	// PodEventMerge is how long Karpenter merges the pod events of a node into one
	// (pkg/controllers/nodeclaim/podevents/controller.go, dedupeTimeout).
	PodEventMerge = 10 * time.Second
	// BufferPoll is how often Karpenter reads a CapacityBuffer
	// (pkg/controllers/capacitybuffer/controller.go).
	BufferPoll = 30 * time.Second
	// DeletionCostPoll is how often Karpenter ranks nodes for the deletion costs of their pods
	// (pkg/controllers/pod/deletioncost/controller.go, reconcileInterval).
	DeletionCostPoll = time.Minute
	// ConsolidationStateAge is when Karpenter takes the cluster for changed, whether or not it knows
	// of a change (pkg/controllers/state/cluster.go, ConsolidationState).
	ConsolidationStateAge = 5 * time.Minute
	// Lease is how long another controller waits for the lease of a dead leader
	// (controller-runtime: pkg/manager/manager.go, defaultLeaseDuration). Karpenter doesn't change it.
	Lease = 15 * time.Second
)

// Times after which something is certainly over: sums of periods, and a margin for busy
// machines.
const (
	// Settled is when Karpenter has done its immediate work and closed a batch of pods, and
	// the scheduler has seen every change of a node.
	Settled = BatchIdle + 4*time.Second
	// TakenOver is when another controller leads after a leader that died.
	TakenOver = Lease + 5*time.Second
	// PodsRetried is when Karpenter has retried the pods that got no node.
	PodsRetried = PodRetry + 5*time.Second
	// NominationOver is when no node is nominated any more. Only then do specs test what else
	// prevents a disruption. Specs with several nodes wait for it before they change anything.
	// If Karpenter looks while some nodes are nominated, it looks at them again only when pods
	// or nodes change, or after five minutes: see consolidation/soon.
	NominationOver = Nomination + time.Second
	// ConsolidationBegun is when Karpenter waits to validate a consolidation.
	ConsolidationBegun = DisruptionPoll + 2*time.Second
	// ConsolidationDecided is when Karpenter has decided one, after it disrupted another node.
	ConsolidationDecided = ConsolidationDelay + 3*time.Second
	// DisruptionPolled is when Karpenter has looked for nodes to disrupt.
	DisruptionPolled = 2 * DisruptionPoll
	// DrainPolled is when an unblocked drain is over.
	DrainPolled = MinDrain + 2*DrainPoll
	// DrainEnded is how long after its deadline a drain is over.
	DrainEnded = EvictionRetry + MinDrain
	// InstanceEnded is how long after its node's deadline the instance begins to end.
	InstanceEnded = DrainEnded + InstancePoll
)
