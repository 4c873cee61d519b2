package draw

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

func (w *world) addPool() {
	pool := fixtures.NodePool().Called(w.name("pool"))
	if w.hasStatic() && w.oneIn(2) {
		pool.Replicas(w.between(0, 3))
	}
	w.varyPool(pool)
	w.keepPool(pool)
}

// hasStatic reports whether some new NodePools are static.
func (w *world) hasStatic() bool {
	return slices.ContainsFunc(w.features, func(f feature) bool { return f.static })
}

func (w *world) keepPool(pool *fixtures.Pool) {
	w.pools = append(w.pools, pool)
	w.apply(pool)
}

// varyPool gives a few of the features to a NodePool.
func (w *world) varyPool(pool *fixtures.Pool) {
	for _, f := range w.few(func(f feature) bool { return f.pool != nil && !(f.dynamic && !dynamic(pool)) }) {
		f.pool(w, pool)
	}
}

// addWorkload applies a workload with a few of the features. Its pods leave little room on most nodes, and half of the
// workloads share no node with others: otherwise they run where there is room already, and nothing is launched.
func (w *world) addWorkload() {
	if len(w.workloads) >= mostWorkloads {
		w.scale()
		return
	}
	app := w.deployment(w.between(1, mostReplicas)).CPU(w.one("100m", "700m", "850m", "1700m"))
	if w.oneIn(2) {
		apart(app)
	}
	some := w.few(func(f feature) bool { return f.workload != nil || f.beside != nil })
	for _, f := range some {
		if f.workload != nil {
			f.workload(w, app)
		}
	}
	w.keepWorkload(app)
	for _, f := range some {
		if f.beside != nil {
			f.beside(w, app)
		}
	}
}

func (w *world) keepWorkload(app *fixtures.Workload) {
	w.workloads = append(w.workloads, app)
	w.apply(app)
}

// deployment returns a Deployment with a name of its own.
func (w *world) deployment(replicas int) *fixtures.Workload {
	app := fixtures.Deployment(replicas).Called(w.name("app"))
	return app.Label(set, app.GetName())
}

// apart keeps the pods of a workload and those of all others on different nodes.
func apart(pods *fixtures.Workload) {
	others := fixtures.PodTerm(corev1.LabelHostname).Where(set, fixtures.Exists).Where(set, fixtures.NotIn, pods.GetName())
	pods.Label(set, pods.GetName()).Apart(others)
}

// varyWorkload gives a few of the features to pods without a Deployment.
func (w *world) varyWorkload(pods *fixtures.Workload) {
	for _, f := range w.few(func(f feature) bool { return f.workload != nil }) {
		f.workload(w, pods)
	}
}

// few returns at most mostFeatures of those that do something, in their order.
func (w *world) few(do func(feature) bool) []feature {
	some := slices.DeleteFunc(slices.Clone(w.features), func(f feature) bool { return !do(f) })
	for most := w.between(0, mostFeatures); len(some) > most; {
		i := w.between(0, len(some)-1)
		some = slices.Delete(some, i, i+1)
	}
	return some
}

// scale gives a workload another number of pods.
func (w *world) scale() { w.scaleTo(0, 2*mostReplicas) }

// scaleTo gives a workload between so many pods.
func (w *world) scaleTo(least, most int) {
	if len(w.workloads) == 0 {
		w.addWorkload()
		return
	}
	app := rapid.SampledFrom(w.workloads).Draw(w.t, "workload")
	w.apply(app.Replicas(w.between(least, most)))
}

func (w *world) dropWorkload() {
	if len(w.workloads) == 0 {
		w.addWorkload()
		return
	}
	w.workloads = deleteOne(w, w.workloads)
}

// deleteOne deletes one of some objects, if there is any, and returns the others.
func deleteOne[T fixtures.Object](w *world, objects []T) []T {
	if len(objects) == 0 {
		return nil
	}
	i := w.between(0, len(objects)-1)
	w.delete(objects[i])
	return slices.Delete(objects, i, i+1)
}

// offered returns the values that NodePools give to a label; none: no node has it.
func (w *world) offered(key string) (values []string) {
	for _, p := range w.pools {
		values = append(values, valuesOf(p, key)...)
	}
	return values
}

// needPoolOf applies a NodePool that leaves the value of a label to pods, unless a NodePool has requirements about it.
// It has a limit, since a wrong value makes one node after another useless.
func (w *world) needPoolOf(label string) {
	if !slices.ContainsFunc(w.pools, func(p *fixtures.Pool) bool { return requires(p, label) }) {
		w.keepPool(fixtures.NodePool().Called(w.name("pool")).Require(label, fixtures.Exists).Limit("cpu", "16"))
	}
}
