package env

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// SettlesWithin is how long a cluster gets to come to rest after a spec with faults, in its time. Karpenter tries some
// things again only after a minute.
const SettlesWithin = 4 * time.Minute

const (
	// settledFor is how long nothing must have changed. Karpenter looks for nodes to disrupt every ten seconds, and waits
	// fifteen before it does.
	settledFor = 45 * time.Second
	settleLook = time.Second
)

// Settle waits, after a spec's function has ended, until the cluster is at rest. It returns how the cluster is then, up
// to names, in lines such as "2 NodeClaims, initialized". Where it doesn't come to rest, the lines say how it is when
// the time is over.
func Settle(ctx context.Context, e *Env, within time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ticks := time.NewTicker(settleLook)
	defer ticks.Stop()
	var last string
	changed := time.Now()
	for {
		w := e.recorder.History().End()
		if now := fmt.Sprint(e.states(w, names)); now != last || check.InProgress(w, within) {
			last, changed = now, time.Now()
		}
		if time.Since(changed) >= settledFor {
			return e.states(w, counts)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return e.states(w, counts)
		}
	}
}

// counts says how many objects are in a state.
func counts(objects []string) string { return fmt.Sprint(len(objects)) }

// names says which objects are in a state.
func names(objects []string) string { return fmt.Sprint(slices.Sorted(slices.Values(objects))) }

// states returns a line for each state that nodes, NodeClaims and the spec's pods are in.
func (e *Env) states(w *history.World, say func(objects []string) string) (lines []string) {
	in := map[string][]string{}
	add := func(state, name string) { in[state] = append(in[state], name) }
	claimed := map[string]bool{}
	for _, claim := range w.List(karpenter.NodeClaims) {
		u := claim.Unstructured()
		claimed[karpenter.NodeClaimNode(u)] = true
		state := "NodeClaims, not initialized"
		switch {
		case karpenter.Deleting(u):
			state = "NodeClaims, deleting"
		case karpenter.IsTrue(u, karpenter.Initialized):
			state = "NodeClaims, initialized"
		}
		if karpenter.IsTrue(u, karpenter.Drifted) {
			state += ", drifted"
		}
		add(state, claim.Name)
	}
	for _, node := range w.List(karpenter.Nodes) {
		switch {
		case e.nodesBefore.Has(node.Name):
		case !claimed[node.Name]:
			add("Nodes without a NodeClaim", node.Name)
		case karpenter.HasTaint(node.Unstructured(), karpenter.DisruptedTaint):
			add("Nodes, tainted for disruption", node.Name)
		}
	}
	for _, pod := range w.List(karpenter.Pods) {
		if e.isOfSpec(pod) {
			add(podState(pod), pod.Name)
		}
	}
	for _, state := range slices.Sorted(maps.Keys(in)) {
		lines = append(lines, say(in[state])+" "+state)
	}
	return lines
}

func podState(pod *history.Object) string {
	u := pod.Unstructured()
	state := "pods"
	if owner := metav1.GetControllerOf(u); owner != nil {
		state += " of a " + owner.Kind
	}
	if karpenter.Deleting(u) {
		return state + ", deleting"
	}
	return fmt.Sprintf("%s, %s", state, karpenter.PodPhase(u))
}
