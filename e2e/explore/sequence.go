package explore

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Sequence is a series of actions on a cluster that has no nodes of Karpenter's.
type Sequence struct {
	// Name identifies it in reports, such as seed-17.
	Name string `json:"name"`
	// Provider and Release are those that it was made for: the adapter's name, and the release, such as v1.15.0. Empty:
	// any.
	Provider string `json:"provider,omitempty"`
	Release  string `json:"release,omitempty"`
	// Seed is what it was drawn from; 0: nothing.
	Seed int `json:"seed,omitempty"`
	// Features are those that it was drawn from.
	Features []string `json:"features,omitempty"`
	Actions  []Action `json:"actions"`
}

// Action is something that users, the cloud or bad luck do.
type Action struct {
	Do Verb `json:"do"`
	// Object is what Apply creates or changes, and what Delete and DeleteInForeground delete. They need only its kind and
	// name.
	Object map[string]any `json:"object,omitempty"`
	// Node says for verbs and hooks about a node which of Karpenter's it is, in the order in which they came: from 0, and
	// around again where there are fewer.
	Node int `json:"node,omitempty"`
	// Hook is what CallHook calls.
	Hook providers.HookName `json:"hook,omitempty"`
	// Count is how many launches or calls of the cloud a hook is about.
	Count int `json:"count,omitempty"`
	// Pattern, Request and Nth say what Fault does, and to which of the controller's requests from then on: such as
	// lose-answer, to the second "patch nodeclaims.karpenter.sh/status". Nth is 1 if it isn't given.
	Pattern faults.Pattern `json:"pattern,omitempty"`
	Request string         `json:"request,omitempty"`
	Nth     int            `json:"nth,omitempty"`
	// Then is how much of the cluster's time passes before the next action.
	Then metav1.Duration `json:"then,omitzero"`
}

// Verb is a kind of action.
type Verb string

// The verbs.
const (
	Apply              Verb = "apply"
	Delete             Verb = "delete"
	DeleteInForeground Verb = "delete-in-foreground" // so that it stays until all that it owns is gone
	Wait               Verb = "wait"
	DeleteNode         Verb = "delete-node"
	DeleteNodeClaim    Verb = "delete-nodeclaim"
	TaintNode          Verb = "taint-node"   // by a user, for good
	ProtectNode        Verb = "protect-node" // from disruption: karpenter.sh/do-not-disrupt
	BreakNode          Verb = "break-node"   // so that it is repaired; needs the capability nodeRepair
	RebootNode         Verb = "reboot-node"  // says that it needs a reboot, for good; needs the capability nodeReboot
	CallHook           Verb = "hook"         // of the adapter
	Fault              Verb = "fault"        // of a request of the controller's
	KillController     Verb = "kill-controller"
	StartAgents        Verb = "start-agents" // on all nodes, which remove StartupTaint from then on
)

// StartupTaint is the key of startup taints that agents remove.
const StartupTaint = fixtures.Domain + "/starting"

// Verbs returns all verbs.
func Verbs() []Verb {
	return []Verb{
		Apply, Delete, DeleteInForeground, Wait, DeleteNode, DeleteNodeClaim, TaintNode, ProtectNode, BreakNode, RebootNode,
		CallHook, Fault, KillController, StartAgents,
	}
}

// String describes the action on one line.
func (a Action) String() string {
	parts := []string{string(a.Do)}
	switch o := a.object(); {
	case a.Object != nil:
		parts = append(parts, o.GetKind()+" "+o.GetName())
	case a.Do == CallHook:
		parts = append(parts, string(a.Hook))
	case a.Do == Fault:
		parts = append(parts, fmt.Sprintf("%s %s %d", a.Pattern, a.Request, max(1, a.Nth)))
	}
	if a.aboutNode() {
		parts = append(parts, fmt.Sprint("node ", a.Node))
	}
	if a.Then.Duration > 0 {
		parts = append(parts, "then "+a.Then.Duration.String())
	}
	return strings.Join(parts, " ")
}

func (a Action) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: a.Object}
}

// nodeClassName is where a NodePool names its NodeClass.
var nodeClassName = []string{"spec", "template", "spec", "nodeClassRef", "name"}

// NeedsAnotherNodeClass reports whether the action applies a NodePool of the second NodeClass, which is made first.
func (a Action) NeedsAnotherNodeClass() bool {
	name, _, _ := unstructured.NestedString(a.Object, nodeClassName...)
	return a.Do == Apply && name == env.AnotherNodeClass
}

// HooksAboutNodes returns the hooks that an action calls about a node, or about its zone.
func HooksAboutNodes() []providers.HookName {
	return []providers.HookName{
		providers.TerminateInstance, providers.ReplaceInstance, providers.Interrupt, providers.Rebalance, providers.Maintain,
		providers.FillZone,
	}
}

// HooksAboutCloud returns the other hooks that an action calls.
func HooksAboutCloud() []providers.HookName {
	return []providers.HookName{
		providers.DriftNodeClass, providers.UnreadyNodeClass, providers.ReadyNodeClass, providers.FailNextLaunch,
		providers.LoseAnswer, providers.DelayLaunch, providers.StallLaunch, providers.Throttle, providers.SlowDown,
		providers.StaleLists, providers.ClearFailures,
	}
}

func (a Action) deletes() bool { return a.Do == Delete || a.Do == DeleteInForeground }

func (a Action) aboutNode() bool {
	return slices.Contains([]Verb{DeleteNode, DeleteNodeClaim, TaintNode, ProtectNode, BreakNode, RebootNode}, a.Do) ||
		a.Do == CallHook && slices.Contains(HooksAboutNodes(), a.Hook)
}

// fault returns what Fault begins, or what is wrong with it.
func (a Action) fault() (faults.Fault, error) {
	on, err := faults.ParseKind(a.Request)
	if err != nil {
		return faults.Fault{}, err
	}
	if !a.Pattern.Strikes(a.Request) {
		return faults.Fault{}, fmt.Errorf("%s doesn't strike %s", a.Pattern, a.Request)
	}
	f, err := a.Pattern.At(on.Nth(max(1, a.Nth)))
	if err != nil {
		return f, err
	}
	return f, f.Check()
}

// Check returns an error with all mistakes of a sequence.
func (s Sequence) Check() error {
	var mistakes []error
	if len(s.Actions) == 0 {
		mistakes = append(mistakes, errors.New("it has no actions"))
	}
	for i, a := range s.Actions {
		wrong := func(format string, args ...any) {
			mistakes = append(mistakes, fmt.Errorf("action %d: %w", i+1, fmt.Errorf(format, args...)))
		}
		if !slices.Contains(Verbs(), a.Do) {
			wrong("do: %q is none of %v", a.Do, Verbs())
		}
		needs := a.Do == Apply || a.deletes()
		switch o := a.object(); {
		case needs && (o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == ""):
			wrong("object: %s needs an apiVersion, a kind and a metadata.name", a.Do)
		case !needs && a.Object != nil:
			wrong("object: %s has none", a.Do)
		}
		if a.Do == CallHook && !slices.Contains(slices.Concat(HooksAboutNodes(), HooksAboutCloud()), a.Hook) {
			wrong("hook: %q is none of %v", a.Hook, slices.Concat(HooksAboutNodes(), HooksAboutCloud()))
		}
		if _, err := a.fault(); a.Do == Fault && err != nil {
			wrong("%w", err)
		}
		for field, n := range map[string]int{"node": a.Node, "count": a.Count, "nth": a.Nth} {
			if n < 0 {
				wrong("%s: %d is less than 0", field, n)
			}
		}
		if a.Then.Duration < 0 {
			wrong("then: %s is less than 0", a.Then.Duration)
		}
	}
	return errors.Join(mistakes...)
}

// Parse reads a sequence from YAML, and checks it.
func Parse(text string) (Sequence, error) {
	var s Sequence
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		return s, err
	}
	return s, s.Check()
}

// MustParse is Parse for sequences in source code. It panics if one is wrong.
func MustParse(text string) Sequence {
	s, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("sequence: %v", err))
	}
	return s
}

// Read reads a sequence from a YAML file, and checks it.
func Read(file string) (Sequence, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Sequence{}, err
	}
	s, err := Parse(string(data))
	if err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// YAML returns the sequence as Read reads it.
func (s Sequence) YAML() ([]byte, error) { return yaml.Marshal(s) }
