package invariant

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Bounds on how long an object may be alone.
const (
	// launchBound is for a NodeClaim without an instance. Karpenter deletes it after 5 minutes
	// (Karpenter: pkg/controllers/nodeclaim/lifecycle/liveness.go).
	launchBound = 7 * time.Minute
	// joinBound is for an instance without a node. Karpenter deletes the NodeClaim after 15
	// minutes (same file).
	joinBound = 17 * time.Minute
	// nodeClaimBound is for a NodeClaim whose node is gone. Garbage collection runs every 2
	// minutes (Karpenter: pkg/controllers/nodeclaim/garbagecollection).
	nodeClaimBound = 5 * time.Minute
	// nodeBound is for a node without a NodeClaim: it never had one, or was unregistered when
	// that went. The provider's own collection may be slower: Params.InstanceGC.
	nodeBound = 5 * time.Minute
	// podBound is for a pod whose node is gone. Pod garbage collection waits 40 s and runs
	// every 20 s (Kubernetes: pkg/controller/podgc). A jump of the clock passes over several runs.
	podBound = 2 * time.Minute
	// lastBound is for a node without a NodeClaim when all pools and NodeClaims are gone.
	lastBound = 10 * time.Second
)

// orphans holds the objects that are alone, by kind and name. Each must be gone, or no longer
// alone, within its bound.
type orphans struct {
	alone map[string]orphan
	timers
	absence absence
}

// orphan is an object that is alone.
type orphan struct {
	object *history.Object
	why    string // with %s for the object's name
	since  time.Time
	bound  time.Duration
}

// note records that an object is alone, from now on if it was not so for the same reason.
func (o *orphans) note(m *check.Moment, key string, bound time.Duration, why string, object *history.Object) {
	is := orphan{object, why, m.Time, bound}
	if was, alone := o.alone[key]; alone && was.why == why {
		is.since = was.since
	} else {
		o.set(key, m.Time.Add(bound))
	}
	o.alone[key] = is
}

// adopt notes that an object is gone or no longer alone.
func (o *orphans) adopt(key string) {
	delete(o.alone, key)
	o.stop(key)
}

// judgeOverdue judges the objects that were alone for too long.
func (o *orphans) judgeOverdue(m *check.Moment) {
	for _, key := range o.expired(m.Time) {
		is := o.alone[key]
		if due := o.absence.due(is.since, is.bound); strings.HasPrefix(key, "pod/") && !m.Time.After(due) {
			o.set(key, due)
			continue
		}
		m.Suspect(is.why+", for longer than %s", is.object.Name, is.bound).Beside(is.object)
	}
}

// judgeLeftNodes judges the nodes that are left when all pools and NodeClaims are gone.
func (o *orphans) judgeLeftNodes(m *check.Moment) {
	if len(m.World.List(karpenter.NodePools))+len(m.World.List(karpenter.NodeClaims)) > 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(o.alone)) {
		if is := o.alone[key]; strings.HasPrefix(key, "node/") && m.Time.Sub(is.since) > lastBound {
			m.Suspect("all NodePools and NodeClaims are gone, and node %s is left: nothing will ever terminate its instance",
				is.object)
		}
	}
}
