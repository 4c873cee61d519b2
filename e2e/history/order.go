package history

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Each resource has its own watch. Within a watch the order is right. Between watches it is a
// race: a check such as "no pod is bound to a node after its taint" could see a later taint
// first. The revision of etcd shows the order. It is the resourceVersion of the object in a
// watch event, and one etcd counts it for all resources together.
//
// So a history moves an event before earlier events of other resources that have a greater
// revision. It does so within maxSkew only. It never moves Events, because some clusters keep
// them in an etcd of their own, whose revisions can't be compared.

// maxSkew is how much later than other watches a watch may deliver an event. After a longer
// stall the revisions are treated as not comparable.
const maxSkew = 2 * time.Second

// inOrder returns the events in the order in which they happened. It doesn't change received.
func inOrder(received []Event) []Event {
	events, copied := received, false
	for i := 1; i < len(received); i++ {
		to := placeOf(events, received[i], i)
		if to == i {
			continue
		}
		if !copied {
			events, copied = slices.Clone(received), true
		}
		copy(events[to+1:i+1], events[to:i])
		events[to] = received[i]
	}
	return slices.Clip(events)
}

// placeOf returns the index, at most i, for an event that was received at i.
func placeOf(events []Event, late Event, i int) int {
	to := i
	if late.revision == 0 || ownRevisions(late.Resource) {
		return to
	}
	for j := i - 1; j >= 0; j-- {
		early := events[j]
		switch {
		case early.Resource == late.Resource, late.Time.Sub(early.Time) > maxSkew:
			return to
		case early.revision == 0, ownRevisions(early.Resource):
			// not comparable
		case early.revision > late.revision:
			to = j
		default:
			return to
		}
	}
	return to
}

// ownRevisions reports whether clusters commonly keep a resource in an etcd of its own
// (kube-apiserver: --etcd-servers-overrides).
func ownRevisions(r schema.GroupVersionResource) bool {
	return r.Resource == "events"
}

// revisionOf returns a resourceVersion as a number, or 0 if it isn't one. Kubernetes
// guarantees a number since v1.35.
func revisionOf(resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
