package providers

import "time"

// HookName names an action on the provider's cloud.
type HookName string

const (
	// ListInstances answers with the provider IDs of all instances, a JSON list.
	ListInstances HookName = "listInstances"
	// TerminateInstance ends the instance {{.ProviderID}}, without notice to the provider.
	TerminateInstance HookName = "terminateInstance"
	// LeakInstance creates an instance that belongs to no NodeClaim.
	LeakInstance HookName = "leakInstance"
	// FailNextLaunch makes the next {{.Count}} launches fail because there is no capacity, or
	// all launches if the count is 0. If {{.CapacityType}} or {{.Zone}} is not empty, only
	// launches of that capacity type or in that zone fail.
	FailNextLaunch HookName = "failNextLaunch"
	// LoseAnswer makes the next {{.Count}} launches succeed, but loses the answers.
	LoseAnswer HookName = "loseAnswer"
	// Throttle makes the cloud refuse the next {{.Count}} calls because of its rate limit.
	Throttle HookName = "throttle"
	// SlowDown delays every answer of the cloud by some seconds.
	SlowDown HookName = "slowDown"
	// StaleLists makes the cloud's lists some seconds old.
	StaleLists HookName = "staleLists"
	// ClearFailures undoes FailNextLaunch, LoseAnswer, Throttle, SlowDown and StaleLists.
	ClearFailures HookName = "clearFailures"
	// DriftNodeClass makes the nodes of the NodeClass drift, for any reason.
	DriftNodeClass HookName = "driftNodeClass"
	// UnreadyNodeClass makes the NodeClass not ready.
	UnreadyNodeClass HookName = "unreadyNodeClass"
	// ReadyNodeClass undoes UnreadyNodeClass.
	ReadyNodeClass HookName = "readyNodeClass"
	// Interrupt announces the end of the instance {{.ProviderID}}.
	Interrupt HookName = "interrupt"
	// Rebalance announces that the instance {{.ProviderID}} is likely to be interrupted.
	Rebalance HookName = "rebalance"
	// Maintain schedules maintenance that ends the instance {{.ProviderID}}.
	Maintain HookName = "maintain"
	// NodeLabels answers with the labels that the type of the instance {{.ProviderID}} gives to
	// its node, a JSON object of strings.
	NodeLabels HookName = "nodeLabels"
	// ResetCloud restores the initial state of everything but the instances. It is called at the
	// end of every spec that called another hook.
	ResetCloud HookName = "resetCloud"
)

// HookNames returns the names of all hooks.
func HookNames() []HookName {
	return []HookName{
		ListInstances, TerminateInstance, LeakInstance,
		FailNextLaunch, LoseAnswer, Throttle, SlowDown, StaleLists, ClearFailures,
		DriftNodeClass, UnreadyNodeClass, ReadyNodeClass, Interrupt, Rebalance, Maintain, NodeLabels, ResetCloud,
	}
}

// Hook is exactly one of these: an HTTP call, a patch of the NodeClass or of a node, the
// removal of a node, or a command. Strings in it are templates over HookValues.
type Hook struct {
	HTTP *HTTPCall `yaml:"http"`
	// Patch is a JSON merge patch of the NodeClass.
	Patch map[string]any `yaml:"patch"`
	// PatchNode is a strategic merge patch of the node {{.NodeName}}: conditions, taints and
	// addresses are merged by their keys.
	PatchNode map[string]any `yaml:"patchNode"`
	// Subresource is the subresource that is patched, such as status. Empty: the object.
	Subresource string `yaml:"subresource"`
	// RemoveNode removes the node {{.NodeName}} in spite of its finalizers. This ends an instance
	// that is nothing but its node.
	RemoveNode bool `yaml:"removeNode"`
	// Exec is a command. Its output is the hook's answer.
	Exec []string `yaml:"exec"`

	// Within is the longest time until the effect shows.
	Within time.Duration `yaml:"within"`
	// Poison is how long the provider remembers the failure. If it is more than zero,
	// the controller is restarted after the spec.
	Poison time.Duration `yaml:"poison"`
}

// HTTPCall is one request. Exactly one of the methods has a value: a path on the
// simulator or a whole URL.
type HTTPCall struct {
	Get    string `yaml:"get"`
	Post   string `yaml:"post"`
	Put    string `yaml:"put"`
	Delete string `yaml:"delete"`
	Body   string `yaml:"body"`
}

// HookValues are the values that templates in hooks can use.
type HookValues struct {
	Simulator  string // host:port by which the controller reaches it
	Kubeconfig string // path of the cluster's kubeconfig
	NodeClass  string // name of the NodeClass
	NodeName   string // name of the node that the hook is about
	ProviderID string // of the instance that the hook is about
	Count      int    // of calls
	// CapacityType, such as spot, and Zone limit what the hook does. Empty: no limit.
	CapacityType, Zone string
	Nonce              string // a new value for each call
	Now                string // the cluster's time, in the format of RFC 3339
}
