package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Pattern names a fault that can strike any write.
type Pattern string

// The patterns.
const (
	PatternCrashBefore Pattern = "crash-before" // see CrashBefore
	PatternCrashAfter  Pattern = "crash-after"  // see CrashAfter
	PatternLoseAnswer  Pattern = "lose-answer"  // see LoseAnswer
	PatternFail        Pattern = "fail"         // refused with 500
	PatternConflict    Pattern = "conflict"     // refused with 409, as if somebody else had changed the object
)

// Patterns returns all patterns.
func Patterns() []Pattern {
	return []Pattern{PatternCrashBefore, PatternCrashAfter, PatternLoseAnswer, PatternFail, PatternConflict}
}

// At returns the pattern's fault for some requests. It is an error if there is no such pattern.
func (p Pattern) At(on Requests) (Fault, error) {
	switch p {
	case PatternCrashBefore:
		return CrashBefore(on), nil
	case PatternCrashAfter:
		return CrashAfter(on), nil
	case PatternLoseAnswer:
		return LoseAnswer(on), nil
	case PatternFail:
		return Refuse(on, apierrors.NewInternalError(errors.New("a fault of the harness"))), nil
	case PatternConflict:
		err := apierrors.NewConflict(on.Resource(), on.name, errors.New("a fault of the harness"))
		return Refuse(on, err), nil
	}
	return Fault{}, fmt.Errorf("there is no pattern %q, only %q", p, Patterns())
}

// Kind returns the request without the object's name, such as "patch nodeclaims.karpenter.sh/status".
func (r Request) Kind() string {
	kind := r.Verb + " " + schema.GroupResource{Group: r.Group, Resource: r.Resource}.String()
	if r.Subresource != "" {
		kind += "/" + r.Subresource
	}
	return kind
}

// ParseKind returns the requests of a kind, see Request.Kind.
func ParseKind(kind string) (Requests, error) {
	verb, rest, found := strings.Cut(kind, " ")
	resource, subresource, _ := strings.Cut(rest, "/")
	if !found || resource == "" || strings.Contains(rest, " ") {
		return Requests{}, fmt.Errorf("%q is no kind of requests, such as \"patch nodeclaims.karpenter.sh/status\"", kind)
	}
	r := Requests{verbs: []string{verb}, resource: schema.ParseGroupResource(resource), subresource: subresource}
	if wrong := r.check(); len(wrong) > 0 {
		return Requests{}, fmt.Errorf("%q: %s", kind, strings.Join(wrong, "; "))
	}
	return r, nil
}

// isWrite reports whether a request changes an object that says something of the world. Leases and Events don't.
func (r Request) isWrite() bool {
	return slices.Contains(writes, r.Verb) && r.Resource != "" && r.Resource != "leases" && r.Resource != "events"
}
