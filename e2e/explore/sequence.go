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
)

// Sequence is a series of actions on a cluster that has no nodes of Karpenter's.
type Sequence struct {
	// Name identifies it in reports, such as seed-17.
	Name string `json:"name"`
	// Seed is what it was drawn from; 0: nothing.
	Seed int `json:"seed,omitempty"`
	// Features are those that it was drawn from.
	Features []string `json:"features,omitempty"`
	Actions  []Action `json:"actions"`
}

// Action is something that users, the cloud or bad luck do.
type Action struct {
	Do Verb `json:"do"`
	// Object is what Apply creates or changes, and what Delete deletes. Delete needs only its kind and name.
	Object map[string]any `json:"object,omitempty"`
	// Node says for verbs about a node which of Karpenter's it is, in the order in which they came: from 0, and around
	// again where there are fewer.
	Node int `json:"node,omitempty"`
	// Then is how much of the cluster's time passes before the next action.
	Then metav1.Duration `json:"then,omitzero"`
}

// Verb is a kind of action.
type Verb string

// The verbs.
const (
	Apply             Verb = "apply"
	Delete            Verb = "delete"
	Wait              Verb = "wait"
	DeleteNode        Verb = "delete-node"
	DeleteNodeClaim   Verb = "delete-nodeclaim"
	TaintNode         Verb = "taint-node"         // by a user, for good
	ProtectNode       Verb = "protect-node"       // from disruption: karpenter.sh/do-not-disrupt
	BreakNode         Verb = "break-node"         // so that it is repaired; needs the capability nodeRepair
	TerminateInstance Verb = "terminate-instance" // behind Karpenter's back; needs the hook
	DriftNodeClass    Verb = "drift-nodeclass"    // needs the hook
	KillController    Verb = "kill-controller"
)

// Verbs returns all verbs.
func Verbs() []Verb {
	return []Verb{
		Apply, Delete, Wait, DeleteNode, DeleteNodeClaim, TaintNode, ProtectNode, BreakNode, TerminateInstance,
		DriftNodeClass, KillController,
	}
}

// String describes the action on one line.
func (a Action) String() string {
	parts := []string{string(a.Do)}
	switch o := a.object(); {
	case a.Object != nil:
		parts = append(parts, o.GetKind()+" "+o.GetName())
	case a.aboutNode():
		parts = append(parts, fmt.Sprint(a.Node))
	}
	if a.Then.Duration > 0 {
		parts = append(parts, "then "+a.Then.Duration.String())
	}
	return strings.Join(parts, " ")
}

func (a Action) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: a.Object}
}

func (a Action) aboutNode() bool {
	return slices.Contains([]Verb{DeleteNode, DeleteNodeClaim, TaintNode, ProtectNode, BreakNode, TerminateInstance}, a.Do)
}

// Check returns an error with all mistakes of a sequence.
func (s Sequence) Check() error {
	var mistakes []error
	if len(s.Actions) == 0 {
		mistakes = append(mistakes, errors.New("it has no actions"))
	}
	for i, a := range s.Actions {
		wrong := func(format string, args ...any) {
			mistakes = append(mistakes, fmt.Errorf("action %d: %s", i+1, fmt.Sprintf(format, args...)))
		}
		if !slices.Contains(Verbs(), a.Do) {
			wrong("do: %q is none of %v", a.Do, Verbs())
		}
		needs := a.Do == Apply || a.Do == Delete
		switch o := a.object(); {
		case needs && (o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == ""):
			wrong("object: %s needs an apiVersion, a kind and a metadata.name", a.Do)
		case !needs && a.Object != nil:
			wrong("object: %s has none", a.Do)
		}
		if a.Node < 0 {
			wrong("node: %d is less than 0", a.Node)
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
