// Package draw makes up sequences of actions: seeded, of all features of a provider's domain, and valid as far as can
// be known without a cluster. Each seed leaves out a random half of the features, since what one of them does, such as
// a limit that lets nothing be launched, hides others (Groce et al., Swarm Testing, ISSTA 2012).
//
// A cluster takes seconds for a sequence, so each one is to show much. It begins with pods that fit nowhere and with
// workloads that can run. Then come, in any order, what most nodes live through, such as drift and consolidation, and
// random actions. Faults and what happens in the cloud come in a third of the sequences only: invariants are lenient
// after them.
package draw

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// How long sequences are, and how much they may have at a time.
const (
	fewestActions, mostActions = 4, 14 // beside those that most sequences have
	mostPools, mostWorkloads   = 4, 8
	mostReplicas               = 6
	mostFeatures               = 3 // of a NodePool or a workload: more hide each other
)

// Draw returns the sequence of a seed. It is drawn from features; nil: from half of the domain's, by the seed.
func Draw(seed int, d Domain, features []string) explore.Sequence {
	s := rapid.Custom(func(t *rapid.T) explore.Sequence {
		w := &world{t: t, domain: d}
		calm := !w.oneIn(3)
		w.features = slices.DeleteFunc(d.features(), func(f feature) bool {
			if features != nil {
				return !slices.Contains(features, f.name)
			}
			return f.disturbs && calm || rapid.Bool().Draw(t, "without")
		})
		w.begin()
		steps := w.life()
		for range w.between(fewestActions, mostActions) {
			steps = append(steps, (*world).next)
		}
		for _, step := range rapid.Permutation(steps).Draw(t, "steps") {
			step(w)
		}
		w.startAgents() // without them, nodes may never be ready for pods
		w.end()
		return explore.Sequence{Features: names(w.features), Actions: w.actions}
	}).Example(seed)
	s.Name, s.Seed = fmt.Sprintf("seed-%d", seed), seed
	return s
}

// Features returns the names of all features that sequences can be drawn from.
func Features(d Domain) []string { return names(d.features()) }

func names(features []feature) (all []string) {
	for _, f := range features {
		all = append(all, f.name)
	}
	return all
}

// world is what a sequence has made so far, as its author believes.
type world struct {
	t         *rapid.T
	domain    Domain
	features  []feature
	actions   []explore.Action
	pools     []*fixtures.Pool
	workloads []*fixtures.Workload
	extras    []fixtures.Object // what else may go again
	agents    bool              // a NodePool has a startup taint, and no agents have been started since
	made      int               // objects, for their names
}

// feature is something that sequences may have.
type feature struct {
	name string
	can  func(Domain) bool // nil: it always can be had

	static   bool                             // some new NodePools are static
	dynamic  bool                             // static NodePools can't have it
	disturbs bool                             // invariants are lenient after it
	pool     func(*world, *fixtures.Pool)     // changes a NodePool
	workload func(*world, *fixtures.Workload) // changes a workload
	beside   func(*world, *fixtures.Workload) // acts beside a new workload
	nowhere  func(*world, *fixtures.Workload) // lets a pod fit on no node
	act      func(*world)                     // acts at any time
	end      func(*world)                     // acts when all else is over
}

// next adds an action.
func (w *world) next() {
	choices := []func(*world){(*world).addWorkload, (*world).addWorkload, (*world).scale, (*world).dropWorkload}
	for _, f := range w.features {
		if f.act != nil {
			choices = append(choices, f.act)
		}
	}
	if len(w.pools) < mostPools {
		choices = append(choices, (*world).addPool)
	}
	rapid.SampledFrom(choices).Draw(w.t, "action")(w)
}

// end adds the last actions.
func (w *world) end() {
	for _, f := range w.features {
		if f.end != nil {
			f.end(w)
		}
	}
}

// do adds an action, and the time that passes after it: mostly little, as actions show more while others go on.
func (w *world) do(a explore.Action) {
	w.doThen(a, 0, 0, 0, 0, 0, time.Second, 3*time.Second, 5*time.Second, 10*time.Second, 20*time.Second)
}

// doThen adds an action, and one of the times after it.
func (w *world) doThen(a explore.Action, times ...time.Duration) {
	a.Then = metav1.Duration{Duration: rapid.SampledFrom(times).Draw(w.t, "then")}
	w.actions = append(w.actions, a)
}

// wait lets one of the times pass.
func (w *world) wait(times ...time.Duration) { w.doThen(explore.Action{Do: explore.Wait}, times...) }

func (w *world) apply(o fixtures.Object) { w.do(applying(o)) }

func (w *world) delete(o fixtures.Object) { w.do(deleting(o)) }

func (w *world) deleteInForeground(o fixtures.Object) {
	w.do(explore.Action{Do: explore.DeleteInForeground, Object: identity(o)})
}

func applying(o fixtures.Object) explore.Action {
	return explore.Action{Do: explore.Apply, Object: o.Unstructured().Object}
}

func deleting(o fixtures.Object) explore.Action {
	return explore.Action{Do: explore.Delete, Object: identity(o)}
}

// identity returns what tells an object from others.
func identity(o fixtures.Object) map[string]any {
	u := o.Unstructured()
	return map[string]any{
		"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "metadata": map[string]any{"name": u.GetName()},
	}
}

// name returns a name that the sequence hasn't used. It is plain enough for the names of all providers.
func (w *world) name(prefix string) string {
	w.made++
	return fmt.Sprintf("%s%d", prefix, w.made)
}

// extra applies an object that may go again.
func (w *world) extra(o fixtures.Object) {
	w.apply(o)
	w.extras = append(w.extras, o)
}

// onePool returns one of the NodePools, or nil.
func (w *world) onePool() *fixtures.Pool {
	if len(w.pools) == 0 {
		return nil
	}
	return rapid.SampledFrom(w.pools).Draw(w.t, "pool")
}

func (w *world) oneIn(n int) bool { return w.between(1, n) == 1 }

func (w *world) between(least, most int) int { return rapid.IntRange(least, most).Draw(w.t, "number") }

func (w *world) number(least, most int) string { return fmt.Sprint(w.between(least, most)) }

func (w *world) one(of ...string) string { return rapid.SampledFrom(of).Draw(w.t, "value") }

// some returns one or more of a list, in its order.
func (w *world) some(of []string) (some []string) {
	some = slices.DeleteFunc(slices.Clone(of), func(string) bool { return rapid.Bool().Draw(w.t, "without") })
	if len(some) == 0 {
		some = []string{w.one(of...)}
	}
	return some
}
