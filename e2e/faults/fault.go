package faults

import (
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is what a fault does.
type kind string

const (
	crashBefore   kind = "the controller is killed before"
	crashAfter    kind = "the controller is killed after"
	loseAnswer    kind = "the answer is lost of"
	refuse        kind = "refused:"
	delay         kind = "delayed:"
	delayAnswer   kind = "answered late:"
	freeze        kind = "the API server doesn't answer"
	loseLease     kind = "the controller can't renew its lease"
	holdEvents    kind = "events are held back of"
	skipEvent     kind = "an event is left out of"
	cutWatches    kind = "watches are cut of"
	expireWatches kind = "watches expire of"
)

// ofEvents are the faults that strike watches.
var ofEvents = map[kind]bool{holdEvents: true, skipEvent: true, cutWatches: true, expireWatches: true}

// lasting are the faults that need to know how long.
var lasting = map[kind]bool{delay: true, delayAnswer: true, freeze: true, loseLease: true, holdEvents: true}

// Fault is what goes wrong, and with which requests. Without Times or Always it strikes once.
type Fault struct {
	kind    kind
	on      Requests
	refusal *apierrors.StatusError // of refuse
	after   time.Duration          // how long it lasts or delays, in the cluster's time
	times   int                    // 0: always
}

// CrashBefore kills the controller before a request reaches the API server.
func CrashBefore(on Requests) Fault { return Fault{kind: crashBefore, on: on, times: 1} }

// CrashAfter kills the controller when a request is done and answered. The controller doesn't get the answer.
func CrashAfter(on Requests) Fault { return Fault{kind: crashAfter, on: on, times: 1} }

// LoseAnswer breaks the connection when a request is done and answered. The controller can't know what became of it.
func LoseAnswer(on Requests) Fault { return Fault{kind: loseAnswer, on: on, times: 1} }

// Refuse answers a request with an error. The request doesn't reach the API server.
func Refuse(on Requests, err *apierrors.StatusError) Fault {
	return Fault{kind: refuse, on: on, refusal: err, times: 1}
}

// Delay holds a request up for d before it reaches the API server.
func Delay(on Requests, d time.Duration) Fault { return Fault{kind: delay, on: on, after: d, times: 1} }

// DelayAnswer holds the answer to a request up for d. The request is done before.
func DelayAnswer(on Requests, d time.Duration) Fault {
	return Fault{kind: delayAnswer, on: on, after: d, times: 1}
}

// Freeze accepts requests for d and answers none. What was sent before is still answered.
func Freeze(d time.Duration) Fault { return Fault{kind: freeze, after: d} }

// LoseLease answers all writes of leases with a conflict for d, as if others wrote them. A leader that can't renew its
// lease has to end itself: with Karpenter's settings after 10 s, and its lease can be taken after 15 s.
func LoseLease(d time.Duration) Fault {
	leases := Requests{
		verbs:    []string{"create", "update", "patch"},
		resource: schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"},
	}
	return Fault{
		kind: loseLease, on: leases, after: d,
		refusal: apierrors.NewConflict(leases.resource, "", errors.New("a fault of the harness")),
	}
}

// HoldEvents holds back all events of a resource for d. Then they come, in their order. Lists show the present
// meanwhile.
func HoldEvents(resource schema.GroupVersionResource, d time.Duration) Fault {
	return Fault{kind: holdEvents, on: On("watch", resource), after: d}
}

// SkipEvent leaves out the n-th event of a resource, from 1, or the n-th of the object with a name, in each watch.
func SkipEvent(resource schema.GroupVersionResource, name string, n int) Fault {
	return Fault{kind: skipEvent, on: On("watch", resource).Named(name).Nth(n), times: 1}
}

// CutWatches ends all watches of a resource that are open now, without an error. Clients resume them.
func CutWatches(resource schema.GroupVersionResource) Fault {
	return Fault{kind: cutWatches, on: On("watch", resource)}
}

// ExpireWatches ends all watches of a resource that are open now by the error 410 Gone. Clients have to list again.
func ExpireWatches(resource schema.GroupVersionResource) Fault {
	return Fault{kind: expireWatches, on: On("watch", resource)}
}

// Times makes the fault strike n requests, one after another.
func (f Fault) Times(n int) Fault {
	f.times = n
	return f
}

// Always makes the fault strike all requests until it is ended.
func (f Fault) Always() Fault { return f.Times(0) }

// Kills reports whether the fault kills the controller.
func (f Fault) Kills() bool { return f.kind == crashBefore || f.kind == crashAfter }

// Deposes reports whether the fault makes the leader end itself.
func (f Fault) Deposes() bool { return f.kind == loseLease }

// Resource returns the resource whose requests the fault strikes; the zero value: any.
func (f Fault) Resource() schema.GroupResource { return f.on.Resource() }

// String returns a sentence about the fault, such as "the controller is killed after create nodeclaims".
func (f Fault) String() string {
	switch f.kind {
	case freeze, loseLease:
		return fmt.Sprintf("%s for %s", f.kind, f.after)
	case refuse:
		return fmt.Sprintf("%s %s (%d %s)", f.kind, f.on, f.refusal.ErrStatus.Code, f.refusal.ErrStatus.Reason)
	case delay, delayAnswer:
		return fmt.Sprintf("%s %s, by %s", f.kind, f.on, f.after)
	case holdEvents:
		return fmt.Sprintf("%s %s for %s", f.kind, f.on.resource.Resource, f.after)
	case skipEvent, cutWatches, expireWatches:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", f.kind, f.on.resource.Resource, f.on.name))
	default:
		return fmt.Sprintf("%s %s", f.kind, f.on)
	}
}

// Check returns all that is wrong with the fault, or nil.
func (f Fault) Check() error {
	wrong := f.on.check()
	if f.OfCloud() {
		wrong = append(wrong, f.checkOfCloud()...)
	}
	if f.times < 0 {
		wrong = append(wrong, fmt.Sprintf("it can't strike %d times; 0 is always", f.times))
	}
	switch {
	case lasting[f.kind] && f.after <= 0:
		wrong = append(wrong, fmt.Sprintf("a duration above 0 is needed, not %s", f.after))
	case f.kind == refuse && (f.refusal == nil || f.refusal.ErrStatus.Code < 400):
		wrong = append(wrong, "a refusal needs an error with an HTTP status of 400 or more")
	case f.Kills() && f.times != 1:
		wrong = append(wrong, "a controller is killed once; begin another fault when it is back")
	case ofEvents[f.kind] && f.on.resource.Empty():
		wrong = append(wrong, "events are of a resource, and none is named")
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(string(f.kind) + ": " + strings.Join(wrong, "; "))
}
