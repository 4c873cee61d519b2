package providers

import "time"

// HookName names something that is done to the provider's cloud.
type HookName string

const (
	// ListInstances answers the cloud's instances, a JSON list of provider IDs.
	ListInstances HookName = "listInstances"
	// TerminateInstance ends the instance {{.ProviderID}} behind the provider's back.
	TerminateInstance HookName = "terminateInstance"
	// LeakInstance makes an instance that belongs to no NodeClaim.
	LeakInstance HookName = "leakInstance"
	// FailNextLaunch makes the next {{.Count}} launches fail for want of capacity, all of
	// them if it is 0; of {{.CapacityType}} and in {{.Zone}} alone, where these aren't empty.
	FailNextLaunch HookName = "failNextLaunch"
	// LoseAnswer makes the next {{.Count}} launches succeed without an answer to who asked.
	LoseAnswer HookName = "loseAnswer"
	// Throttle makes the cloud refuse the next {{.Count}} calls since there were too many.
	Throttle HookName = "throttle"
	// SlowDown makes every answer of the cloud take seconds longer.
	SlowDown HookName = "slowDown"
	// StaleLists makes the cloud's lists tell how things were some seconds ago.
	StaleLists HookName = "staleLists"
	// ClearFailures takes all of these back.
	ClearFailures HookName = "clearFailures"
	// DriftNodeClass makes the nodes of the NodeClass drift, for whatever reason.
	DriftNodeClass HookName = "driftNodeClass"
	// UnreadyNodeClass makes the NodeClass not ready.
	UnreadyNodeClass HookName = "unreadyNodeClass"
	// ReadyNodeClass takes UnreadyNodeClass back.
	ReadyNodeClass HookName = "readyNodeClass"
	// Interrupt announces the end of the instance {{.ProviderID}}.
	Interrupt HookName = "interrupt"
	// Rebalance says that the instance {{.ProviderID}} is likely to be interrupted.
	Rebalance HookName = "rebalance"
	// Maintain schedules maintenance that the instance {{.ProviderID}} will not survive.
	Maintain HookName = "maintain"
	// NodeLabels answers the labels that the node of the instance {{.ProviderID}} has by the
	// instance's type, a JSON object of strings.
	NodeLabels HookName = "nodeLabels"
	// ResetCloud puts the cloud back to how it was at first, but for its instances. It is
	// called at the end of every spec that called another hook.
	ResetCloud HookName = "resetCloud"
)

// HookNames lists all of them.
func HookNames() []HookName {
	return []HookName{
		ListInstances, TerminateInstance, LeakInstance,
		FailNextLaunch, LoseAnswer, Throttle, SlowDown, StaleLists, ClearFailures,
		DriftNodeClass, UnreadyNodeClass, ReadyNodeClass, Interrupt, Rebalance, Maintain, NodeLabels, ResetCloud,
	}
}

// Hook is an HTTP call, a patch of the NodeClass, the removal of a node or a
// command: exactly one.
// Strings in it are templates over HookValues.
type Hook struct {
	HTTP *HTTPCall `yaml:"http"`
	// Patch is a JSON merge patch of the NodeClass.
	Patch map[string]any `yaml:"patch"`
	// Subresource is what the patch is for, such as status. Empty: the object.
	Subresource string `yaml:"subresource"`
	// RemoveNode takes the node {{.NodeName}} away in spite of its finalizers: how an
	// instance ends where instances are nodes and nothing else.
	RemoveNode bool `yaml:"removeNode"`
	// Exec is a command; what it prints is the hook's answer.
	Exec []string `yaml:"exec"`

	// Within bounds how long the effect may take to show.
	Within time.Duration `yaml:"within"`
	// Poison is for how long the provider remembers the failure; more than zero
	// means that the controller is restarted after the spec.
	Poison time.Duration `yaml:"poison"`
}

// HTTPCall is one request: exactly one of the methods has a path, which is
// relative to the simulator, or a whole URL.
type HTTPCall struct {
	Get    string `yaml:"get"`
	Post   string `yaml:"post"`
	Put    string `yaml:"put"`
	Delete string `yaml:"delete"`
	Body   string `yaml:"body"`
}

// HookValues is what templates in hooks can name.
type HookValues struct {
	Simulator  string // host:port where it listens, as the controller reaches it
	Kubeconfig string // path of the cluster's kubeconfig
	NodeClass  string // name of the NodeClass
	NodeName   string // name of the node that the hook is about
	ProviderID string // of the instance that the hook is about
	Count      int    // how often
	// CapacityType and Zone are those that the hook is about, such as spot; empty: any.
	CapacityType, Zone string
	Nonce              string // another value at each call
	Now                string // what time it is in the cluster, as RFC 3339 has it
}
