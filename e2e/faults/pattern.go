package faults

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Strikes reports whether the pattern can strike requests of a kind: a cloud has no conflicts.
func (p Pattern) Strikes(kind string) bool {
	_, isCall := callOf(kind)
	return !isCall || p != PatternConflict
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
