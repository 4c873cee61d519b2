// Package draw makes up sequences of actions: seeded, of all features of a provider's domain, and valid as far as can
// be known without a cluster. Each seed leaves out a random half of the features, since what one of them does, such as
// a limit that lets nothing be launched, hides others (Groce et al., Swarm Testing, ISSTA 2012).
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
	fewestActions, mostActions = 4, 14
	mostPools, mostWorkloads   = 3, 5
	mostReplicas               = 6
)

// Draw returns the sequence of a seed. It is drawn from features; nil: from half of the domain's, by the seed.
func Draw(seed int, d Domain, features []string) explore.Sequence {
	s := rapid.Custom(func(t *rapid.T) explore.Sequence {
		possible := d.features()
		chosen := slices.DeleteFunc(slices.Clone(possible), func(f feature) bool {
			if features != nil {
				return !slices.Contains(features, f.name)
			}
			return rapid.Bool().Draw(t, "without")
		})
		w := &world{t: t, domain: d, features: chosen}
		w.addPool()
		w.addWorkload()
		for range rapid.IntRange(fewestActions, mostActions).Draw(t, "actions") - len(w.actions) {
			w.next()
		}
		w.startAgents() // without them, nodes may never be ready for pods
		return explore.Sequence{Features: names(chosen), Actions: w.actions}
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
	pool     func(*world, *fixtures.Pool)     // changes a NodePool
	workload func(*world, *fixtures.Workload) // changes a workload
	beside   func(*world, *fixtures.Workload) // acts beside a new workload
	act      func(*world)                     // acts at any time
}

// next adds an action.
func (w *world) next() {
	choices := []func(*world){(*world).addWorkload, (*world).scale, (*world).dropWorkload}
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

// do adds an action, and the time that passes after it.
func (w *world) do(a explore.Action) {
	a.Then = metav1.Duration{Duration: rapid.SampledFrom([]time.Duration{
		0, 0, time.Second, 3 * time.Second, 10 * time.Second, 20 * time.Second, time.Minute, 6 * time.Minute,
	}).Draw(w.t, "then")}
	w.actions = append(w.actions, a)
}

func (w *world) apply(o fixtures.Object) {
	w.do(explore.Action{Do: explore.Apply, Object: o.Unstructured().Object})
}

func (w *world) delete(o fixtures.Object) {
	w.do(explore.Action{Do: explore.Delete, Object: identity(o)})
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

func (w *world) addPool() {
	pool := fixtures.NodePool().Called(w.name("pool"))
	if slices.ContainsFunc(w.features, func(f feature) bool { return f.static }) && w.oneIn(3) {
		pool.Replicas(w.between(0, 3))
	}
	w.varyPool(pool)
	w.pools = append(w.pools, pool)
	w.apply(pool)
}

// varyPool gives some of the features to a NodePool.
func (w *world) varyPool(pool *fixtures.Pool) {
	for _, f := range w.features {
		if f.pool != nil && !(f.dynamic && !dynamic(pool)) && w.oneIn(3) {
			f.pool(w, pool)
		}
	}
}

func (w *world) addWorkload() {
	if len(w.workloads) >= mostWorkloads {
		w.scale()
		return
	}
	app := fixtures.Deployment(w.between(1, mostReplicas)).Called(w.name("app"))
	w.varyWorkload(app, 4)
	w.apply(app)
	w.workloads = append(w.workloads, app)
	for _, f := range w.features {
		if f.beside != nil && w.oneIn(3) {
			f.beside(w, app)
		}
	}
}

// varyWorkload gives one in n of the features to a workload.
func (w *world) varyWorkload(app *fixtures.Workload, n int) {
	for _, f := range w.features {
		if f.workload != nil && w.oneIn(n) {
			f.workload(w, app)
		}
	}
}

// extra applies an object that may go again.
func (w *world) extra(o fixtures.Object) {
	w.apply(o)
	w.extras = append(w.extras, o)
}

func (w *world) scale() {
	if len(w.workloads) == 0 {
		w.addWorkload()
		return
	}
	app := rapid.SampledFrom(w.workloads).Draw(w.t, "workload")
	w.apply(app.Replicas(w.between(0, 2*mostReplicas)))
}

func (w *world) dropWorkload() {
	if len(w.workloads) == 0 {
		w.addWorkload()
		return
	}
	i := w.between(0, len(w.workloads)-1)
	w.delete(w.workloads[i])
	w.workloads = slices.Delete(w.workloads, i, i+1)
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
