package karpenter

// Setting is a setting of Karpenter's controller, by its environment variable.
type Setting string

// Settings that decide what is launched (Karpenter: pkg/operator/options/options.go).
const (
	BatchIdleDuration Setting = "BATCH_IDLE_DURATION" // a duration; default BatchIdle
	BatchMaxDuration  Setting = "BATCH_MAX_DURATION"  // a duration; default BatchMax
	PreferencePolicy  Setting = "PREFERENCE_POLICY"   // Respect, the default, or Ignore; since 1.5
	MinValuesPolicy   Setting = "MIN_VALUES_POLICY"   // Strict, the default, or BestEffort; since 1.6
	LegacyNodeRepair  Setting = "LEGACY_NODE_REPAIR"  // true or false, the default; since 1.15
	IgnoreDRARequests Setting = "IGNORE_DRA_REQUESTS" // true, the default, or false; since 1.14
	SchedulerConfig   Setting = "SCHEDULER_CONFIG"    // YAML, as defaultConstraints of kube-scheduler; since 1.15
)
