package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Pattern names a fault that can strike any write, or all watches of a resource.
type Pattern string

// The patterns.
const (
	PatternCrashBefore Pattern = "crash-before" // see CrashBefore
	PatternCrashAfter  Pattern = "crash-after"  // see CrashAfter
	PatternLoseAnswer  Pattern = "lose-answer"  // see LoseAnswer
	PatternFail        Pattern = "fail"         // refused with 500
	PatternConflict    Pattern = "conflict"     // refused with 409, as if somebody else had changed the object

	PatternHoldEvents    Pattern = "hold-events"    // for half a minute, see HoldEvents
	PatternCutWatches    Pattern = "cut-watches"    // see CutWatches
	PatternExpireWatches Pattern = "expire-watches" // see ExpireWatches
)

// heldBack is how long PatternHoldEvents holds events back.
const heldBack = 30 * time.Second

// Patterns returns the patterns of writes.
func Patterns() []Pattern {
	return []Pattern{PatternCrashBefore, PatternCrashAfter, PatternLoseAnswer, PatternFail, PatternConflict}
}

// WatchPatterns returns the patterns of watches.
func WatchPatterns() []Pattern {
	return []Pattern{PatternHoldEvents, PatternCutWatches, PatternExpireWatches}
}

// Strikes reports whether the pattern can strike requests of a kind: a cloud has no conflicts, and only watches have
// events.
func (p Pattern) Strikes(kind string) bool {
	if slices.Contains(WatchPatterns(), p) {
		return strings.HasPrefix(kind, "watch ")
	}
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
	case PatternHoldEvents:
		return Fault{kind: holdEvents, on: on, after: heldBack}, nil
	case PatternCutWatches:
		return Fault{kind: cutWatches, on: on}, nil
	case PatternExpireWatches:
		return Fault{kind: expireWatches, on: on}, nil
	}
	return Fault{}, fmt.Errorf("there is no pattern %q, only %q", p, slices.Concat(Patterns(), WatchPatterns()))
}
