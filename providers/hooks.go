package providers

import "time"

// HookName names an action on the provider's cloud.
type HookName string

const (
	// ListInstances answers with the provider IDs of all instances, a JSON list. An instance is
	// in it from its launch, before its node joins, until it is gone and costs nothing: one that is
	// being ended is still in it. The IDs are spelled as in NodeClaims. Specs poll it twice a
	// second. Throttle, SlowDown and StaleLists don't concern it.
	ListInstances HookName = "listInstances"
	// TerminateInstance ends the instance {{.ProviderID}}, without notice to the provider. The
	// kubelet of its node goes silent with it, or the node goes too, as in the real cloud.
	TerminateInstance HookName = "terminateInstance"
	// ReplaceInstance makes the cloud replace the instance {{.ProviderID}} on its own by a new one
	// of the same kind, without notice to the provider, as groups of instances are rolled out.
	ReplaceInstance HookName = "replaceInstance"
	// LeakInstance creates an instance that belongs to no NodeClaim: a copy of one that the
	// provider launched, with the tags by which the provider finds what is its own, as if its
	// NodeClaim had been deleted and the instance forgotten. Specs call it after a launch. The
	// provider must end the instance; see the capability InstanceGC.
	LeakInstance HookName = "leakInstance"
	// FailNextLaunch makes the next {{.Count}} launches fail because there is no capacity, or
	// all launches until ClearFailures if the count is 0. If {{.CapacityType}} or {{.Zone}} is not
	// empty, only launches of that capacity type or in that zone fail. A request that allows others
	// too may succeed with these.
	FailNextLaunch HookName = "failNextLaunch"
	// FillZone lets no more instances into the zone {{.Zone}} until ClearFailures, as a quota or a
	// greatest size does that the provider can read before it launches.
	FillZone HookName = "fillZone"
	// LoseAnswer makes the next {{.Count}} launches succeed, but loses the answers: the provider
	// gets an error or nothing. The instance runs, and its node joins.
	LoseAnswer HookName = "loseAnswer"
	// DelayLaunch makes the next {{.Count}} launches succeed, but about a minute late.
	DelayLaunch HookName = "delayLaunch"
	// StallLaunch makes the next {{.Count}} launches never come to an end: they neither succeed
	// nor fail.
	StallLaunch HookName = "stallLaunch"
	// Throttle makes the cloud refuse the next {{.Count}} calls because of its rate limit.
	Throttle HookName = "throttle"
	// SlowDown delays every answer of the cloud by some seconds, until ClearFailures.
	SlowDown HookName = "slowDown"
	// StaleLists makes the cloud's lists some seconds old, until ClearFailures. Requests for a
	// single instance are answered as it is.
	StaleLists HookName = "staleLists"
	// ClearFailures undoes FailNextLaunch, FillZone, LoseAnswer, DelayLaunch, StallLaunch, Throttle,
	// SlowDown and StaleLists. It changes nothing else. It is no error if there is nothing to undo.
	ClearFailures HookName = "clearFailures"
	// DriftNodeClass makes the nodes of the NodeClass drift, for any reason of the provider's. New
	// nodes must not have drifted.
	DriftNodeClass HookName = "driftNodeClass"
	// UnreadyNodeClass makes the NodeClass's condition Ready false. It must not make nodes drift:
	// the NodeClass's hash, and all else that the provider compares nodes with, stay. Good ways
	// are to take away what the NodeClass selects, or a field that the hash omits.
	UnreadyNodeClass HookName = "unreadyNodeClass"
	// UnfitImages makes the NodeClass select images for none of the instance types that the adapter's NodePools
	// allow, such as those of another architecture.
	UnfitImages HookName = "unfitImages"
	// InvalidNodeClass makes the NodeClass say something that the API server accepts and the provider can't use.
	InvalidNodeClass HookName = "invalidNodeClass"
	// ReadyNodeClass undoes UnreadyNodeClass, UnfitImages and InvalidNodeClass.
	ReadyNodeClass HookName = "readyNodeClass"
	// Interrupt announces the end of the instance {{.ProviderID}}, as long before it as the cloud
	// does. Whether the instance then ends by itself is the cloud's to say.
	Interrupt HookName = "interrupt"
	// Rebalance announces that the instance {{.ProviderID}} is likely to be interrupted.
	Rebalance HookName = "rebalance"
	// Maintain schedules maintenance that ends the instance {{.ProviderID}}.
	Maintain HookName = "maintain"
	// AnnounceMany announces {{.Count}} things at once where the provider reads such announcements:
	// one about each instance, for some that they end, and others about instances that no NodeClaim
	// has. It answers with a JSON object: "ending" and "staying" are lists of the provider IDs of the
	// instances. Only `make bench` calls it.
	AnnounceMany HookName = "announceMany"
	// Announcements answers with how the provider handles announcements, a JSON object: "left" says
	// how many of AnnounceMany's have not been taken away, "seconds" how long it took until none was
	// left, or has taken, "calls" how many calls meanwhile, "waiting" how many are left in all, and
	// "again" how often the provider was given, or took away, one that it had already.
	Announcements HookName = "announcements"
	// NodeLabels answers with the labels that the type of the instance {{.ProviderID}} gives to
	// its node, a JSON object of strings. They come from the cloud's catalogue, not from the node.
	NodeLabels HookName = "nodeLabels"
	// ResetCloud restores the initial state of everything but the instances. It is called at the
	// end of every spec that called another hook.
	ResetCloud HookName = "resetCloud"
)

// HookNames returns the names of all hooks.
func HookNames() []HookName {
	return []HookName{
		ListInstances, TerminateInstance, ReplaceInstance, LeakInstance,
		FailNextLaunch, FillZone, LoseAnswer, DelayLaunch, StallLaunch, Throttle, SlowDown, StaleLists, ClearFailures,
		DriftNodeClass, UnreadyNodeClass, UnfitImages, InvalidNodeClass, ReadyNodeClass, Interrupt, Rebalance, Maintain,
		AnnounceMany, Announcements, NodeLabels, ResetCloud,
	}
}

// Hook is exactly one of these: an HTTP call, a patch of the NodeClass, of a node or of
// its NodeClaim, the removal of a node, or a command. Strings in it are templates over HookValues.
type Hook struct {
	HTTP *HTTPCall `yaml:"http"`
	// Patch is a JSON merge patch of the NodeClass.
	Patch map[string]any `yaml:"patch"`
	// PatchNode is a strategic merge patch of the node {{.NodeName}}: conditions, taints and
	// addresses are merged by their keys.
	PatchNode map[string]any `yaml:"patchNode"`
	// PatchNodeClaim is a JSON merge patch of the NodeClaim of the node {{.NodeName}}: for what a
	// provider has written there at the launch, such as the image.
	PatchNodeClaim map[string]any `yaml:"patchNodeClaim"`
	// Subresource is the subresource that is patched, such as status. Empty: the object.
	Subresource string `yaml:"subresource"`
	// RemoveNode removes the node {{.NodeName}} in spite of its finalizers. This ends an instance
	// that is nothing but its node.
	RemoveNode bool `yaml:"removeNode"`
	// Exec is a command. Its output is the hook's answer.
	Exec []string `yaml:"exec"`

	// Within is the longest time until the effect shows. Specs that call the hook get that much
	// more time.
	Within time.Duration `yaml:"within"`
	// Poison is how long the provider remembers the failure. If it is more than zero, the
	// controller is restarted after the spec. A spec that waits for capacity again gets that much
	// more time; if it is over five minutes, the controller is restarted at ClearFailures instead.
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
	Count      int    // of calls; 0 for FailNextLaunch: all, until ClearFailures
	// CapacityType, such as spot, and Zone limit what the hook does. Empty: no limit.
	CapacityType, Zone string
	Nonce              string // a new value for each call
	Now                string // the cluster's time, in the format of RFC 3339
}
