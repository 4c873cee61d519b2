package history

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Each resource comes through a watch of its own. Within a watch the order is
// right; between two of them it is a race, and a check such as "no pod is
// bound to a node after the node was tainted" would now and then see the taint
// of a moment later first. What tells is the revision of etcd at which a thing
// happened: the resourceVersion of the object in a watch event. One etcd counts
// them for all resources together.
//
// So a history moves an event before those of other resources that came
// earlier but have a greater revision. It does so within maxSkew only, and
// leaves Events alone: in clusters that keep them in an etcd of their own their
// revisions mean nothing to others.

// maxSkew is how much later an event of one watch may be received than those
// of another that happened after it. A stall longer than this is taken for
// revisions that cannot be compared.
const maxSkew = 2 * time.Second

// inOrder is the events in the order in which they happened; the given slice
// is left as it is.
func inOrder(received []Event) []Event {
	events, copied := received, false
	for i := 1; i < len(received); i++ {
		to := place(events, received[i], i)
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

// place is where, at i or before, an event that was received at i belongs.
func place(events []Event, late Event, i int) int {
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
			// Says nothing about where late belongs.
		case early.revision > late.revision:
			to = j
		default:
			return to
		}
	}
	return to
}

// ownRevisions says whether clusters commonly keep a resource in an etcd of
// its own (kube-apiserver: --etcd-servers-overrides).
func ownRevisions(r schema.GroupVersionResource) bool {
	return r.Resource == "events"
}

// revisionOf reads a resourceVersion as a number. Kubernetes promises since
// v1.35 that it is one; 0 where it isn't.
func revisionOf(resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
