package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// patience is how long a sequence may take beside the time that it lets pass.
const patience = 10 * time.Minute

// Within returns how long a sequence may take, in the cluster's time.
func (s Sequence) Within() time.Duration {
	within := patience
	for _, a := range s.Actions {
		within += a.Then.Duration
	}
	return within
}

// Foreground reports whether the sequence deletes in the foreground: see e2e.Spec.
func (s Sequence) Foreground() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Do == DeleteInForeground })
}

// Hooks returns the adapter's hooks that the sequence needs.
func (s Sequence) Hooks() (hooks []providers.HookName) {
	for _, a := range s.Actions {
		if a.Do == CallHook {
			hooks = append(hooks, a.Hook)
		}
	}
	slices.Sort(hooks)
	return slices.Compact(hooks)
}

// Play does what a sequence says. What the API server refuses, and what there is no node for, is left out and noted.
func (s Sequence) Play(ctx context.Context, e *env.Env) {
	for _, a := range s.Actions {
		a.Play(ctx, e)
		if a.Then.Duration > 0 {
			e.Observe(ctx, a.Then.Duration)
		}
	}
	if missed := e.MissedFaults(); missed != "" {
		e.Note("faults that never struck: %s", missed)
	}
	for _, hook := range s.Undo() {
		e.Hook(ctx, hook)
	}
	if slices.ContainsFunc(s.Hooks(), func(h providers.HookName) bool { return slices.Contains(answeredLate, h) }) {
		e.Observe(ctx, karpenter.LaunchTimeout) // what waits has its answer by then, or is given up, and can be deleted
	}
	e.ExpectInvariants()
}

// Undo returns the hooks that end what keeps the cluster from coming to rest: failures of the cloud, and a NodeClass
// that isn't ready.
func (s Sequence) Undo() (hooks []providers.HookName) {
	called := s.Hooks()
	if slices.Contains(called, providers.UnreadyNodeClass) {
		hooks = append(hooks, providers.ReadyNodeClass)
	}
	if slices.ContainsFunc(called, func(h providers.HookName) bool { return slices.Contains(failures, h) }) {
		hooks = append(hooks, providers.ClearFailures)
	}
	return hooks
}

// Breaks returns the invariants that the sequence breaks on purpose, each with the reason.
func (s Sequence) Breaks() map[string]string {
	ends := []providers.HookName{providers.TerminateInstance, providers.ReplaceInstance}
	if !slices.ContainsFunc(s.Hooks(), func(h providers.HookName) bool { return slices.Contains(ends, h) }) {
		return nil
	}
	return map[string]string{
		"instances end before their nodes and NodeClaims do": "the instance ends behind Karpenter's back, and its node may " +
			"with it",
	}
}

// failures are the hooks that ClearFailures undoes.
var failures = []providers.HookName{
	providers.FailNextLaunch, providers.FillZone, providers.LoseAnswer, providers.DelayLaunch, providers.StallLaunch,
	providers.Throttle, providers.SlowDown, providers.StaleLists,
}

// answeredLate are the hooks that let launches wait for their answer, undone or not.
var answeredLate = []providers.HookName{providers.DelayLaunch, providers.StallLaunch}

// Play does an action, without the time that passes after it. It notes why if it can't.
func (a Action) Play(ctx context.Context, e *env.Env) {
	if why := a.play(ctx, e); why != "" {
		e.Note("%s was left out: %s", a, why)
	}
}

func (a Action) play(ctx context.Context, e *env.Env) (why string) {
	if a.aboutNode() {
		nodes := nodes(e.World())
		if len(nodes) == 0 {
			return "there is no node"
		}
		return a.toNode(ctx, e, nodes[a.Node%len(nodes)])
	}
	var err error
	switch a.Do {
	case Apply:
		if a.NeedsAnotherNodeClass() {
			e.AnotherNodeClass(ctx)
		}
		err = e.Try(ctx, manifest(a.Object))
	case Delete:
		e.Remove(ctx, manifest(a.Object))
	case DeleteInForeground:
		e.RemoveInForeground(ctx, manifest(a.Object))
	case CallHook:
		e.NodeClass(ctx)
		e.Hook(ctx, a.Hook, providers.HookValues{Count: a.Count})
	case Fault:
		var f faults.Fault
		if f, err = a.fault(); err == nil {
			e.Fault(ctx, f)
		}
	case KillController:
		e.KillController(ctx)
	case StartAgents:
		every := func(*unstructured.Unstructured) bool { return true }
		e.KeepUntainted(ctx, check.Where("nodes", karpenter.Nodes, every), StartupTaint)
	default: // Wait
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// userTaint is that of TaintNode.
const userTaint = fixtures.Domain + "/tainted"

// toNode does an action to a node, or returns why it can't. The node may go at any time.
func (a Action) toNode(ctx context.Context, e *env.Env, node *history.Object) (why string) {
	defer func() {
		failure := recover()
		if failure != nil && e.World().Get(karpenter.Nodes, "", node.Name) != nil {
			panic(failure)
		}
		if failure != nil {
			why = "the node went meanwhile"
		}
	}()
	claim := nodeClaimOf(e.World(), node)
	if claim == nil {
		return "the node has no NodeClaim"
	}
	switch a.Do {
	case DeleteNode:
		e.Delete(ctx, node)
	case DeleteNodeClaim:
		e.Delete(ctx, claim)
	case TaintNode:
		e.Taint(ctx, node, corev1.Taint{Key: userTaint, Effect: corev1.TaintEffectNoSchedule})
	case ProtectNode:
		e.Annotate(ctx, node, karpenter.DoNotDisruptAnnotation, "true")
	case BreakNode:
		e.MakeUnhealthy(ctx, node)
	case RebootNode:
		e.RequireReboot(ctx, node)
	case CallHook:
		e.Hook(ctx, a.Hook, env.About(node))
	default:
	}
	return ""
}

// nodes returns Karpenter's nodes that stay, in the order in which they came.
func nodes(w *history.World) []*history.Object {
	all := slices.DeleteFunc(w.List(karpenter.Nodes), func(o *history.Object) bool {
		u := o.Unstructured()
		return nodeClaimOf(w, o) == nil || karpenter.Deleting(u)
	})
	slices.SortStableFunc(all, func(a, b *history.Object) int {
		return a.Unstructured().GetCreationTimestamp().Compare(b.Unstructured().GetCreationTimestamp().Time)
	})
	return all
}

func nodeClaimOf(w *history.World, node *history.Object) *history.Object {
	for _, claim := range w.List(karpenter.NodeClaims) {
		if karpenter.NodeClaimNode(claim.Unstructured()) == node.Name {
			return claim
		}
	}
	return nil
}

// manifest is an object of a sequence.
type manifest map[string]any

// Manifest returns an object from YAML, for specs with objects that no builder makes. It panics if the YAML is wrong.
func Manifest(text string) fixtures.Object {
	var m manifest
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		panic(fmt.Sprintf("manifest: %v", err))
	}
	return m
}

func (m manifest) GetName() string { return m.Unstructured().GetName() }

// Unstructured returns a copy of the object.
func (m manifest) Unstructured() *unstructured.Unstructured {
	return (&unstructured.Unstructured{Object: m}).DeepCopy()
}
