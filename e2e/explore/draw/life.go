package draw

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// begin makes what most sequences need, first of all a NodePool on which most pods can run.
func (w *world) begin() {
	pool := fixtures.NodePool().Called(w.name("pool")).
		Consolidate(w.one(fixtures.WhenEmpty, fixtures.WhenEmptyOrUnderutilized, fixtures.WhenEmptyOrUnderutilized)).
		ConsolidateAfter(w.one("0s", "0s", "15s", "30s"))
	if !w.oneIn(3) {
		pool.Budget(w.number(1, 2))
	}
	if w.oneIn(2) {
		pool.TerminationGracePeriod(w.one("30s", "2m"))
	}
	if w.oneIn(4) {
		w.varyPool(pool)
	}
	w.keepPool(pool)
	w.addNowhere() // while no other nodes have room that hides mistakes
	for _, part := range []func(){w.addDaemon, w.addApart, w.addTogether, w.addExpiring, w.addStatic} {
		if !w.oneIn(5) {
			part()
		}
	}
	if w.domain.can(providers.StandaloneNodeClaims) && w.oneIn(2) {
		w.extra(w.nodeClaim())
	}
	w.addWorkload()
}

// addDaemon applies daemons, which run on every new node.
func (w *world) addDaemon() {
	w.extra(fixtures.DaemonSet().Called(w.name("daemon")).CPU(w.one("50m", "200m")).Tolerate(dedicated))
}

// addApart applies a workload with a node for each pod. Its pods are slow to end, or protected in some way.
func (w *world) addApart() {
	app := w.deployment(w.between(3, 5)).OnePodPerNode().CPU("500m")
	switch w.between(1, 4) {
	case 1:
		app.Annotate(karpenter.DoNotDisruptAnnotation, "true")
	case 2:
		w.atOnce(applying(app.MaxUnavailable(w.between(0, 1))))
	default:
	}
	if !w.oneIn(6) {
		app.GracePeriod(w.between(5, 40))
	}
	w.keepWorkload(app)
}

// addTogether applies a workload of which some pods share a node, so that a smaller one is cheaper when most are gone.
func (w *world) addTogether() {
	app := w.deployment(w.between(3, 6)).CPU(w.one("900m", "1700m"))
	if w.oneIn(2) {
		w.varyWorkload(app)
	}
	w.keepWorkload(app)
}

// addExpiring applies a NodePool whose nodes expire soon, and pods for it. Budgets and limits must not hold that up.
func (w *world) addExpiring() {
	pool := fixtures.NodePool().Called(w.name("pool")).ExpireAfter(w.one("45s", "75s", "3m"))
	if w.oneIn(3) {
		pool.Budget("0")
	}
	if w.oneIn(3) {
		w.varyPool(pool)
	}
	w.keepPool(pool)
	w.keepWorkload(w.deployment(w.between(1, 2)).On(pool).CPU("700m"))
}

// addStatic applies a static NodePool if sequences may have some. Most pods may not run there: on nodes with room,
// mistakes of those that are launched for pods would not show.
func (w *world) addStatic() {
	if !w.hasStatic() {
		return
	}
	pool := fixtures.NodePool().Called(w.name("pool")).Replicas(w.between(1, 2))
	if !w.oneIn(3) {
		pool.Taint(dedicated, fixtures.NoSchedule)
	}
	if w.oneIn(2) {
		pool.Consolidate(fixtures.WhenEmptyOrUnderutilized).ConsolidateAfter("0s")
	}
	w.keepPool(pool)
}

// life returns, in no order, what most nodes live through. Each seed leaves out a few.
func (w *world) life() (steps []func(*world)) {
	for _, step := range []func(*world){
		func(w *world) { w.scaleTo(mostReplicas, 2*mostReplicas) },
		func(w *world) { w.scaleTo(0, 1) },
		func(w *world) { w.scaleTo(0, 2) },
		(*world).drift,
		(*world).drift,
		(*world).retune,
		(*world).changePool,
		func(w *world) { w.do(explore.Action{Do: explore.DeleteNode, Node: w.between(0, 5)}) },
		func(w *world) { w.wait(30*time.Second, 45*time.Second) },
		func(w *world) { w.wait(20*time.Second, 30*time.Second, 30*time.Second, 4*time.Minute) },
	} {
		if !w.oneIn(5) {
			steps = append(steps, step)
		}
	}
	return steps
}

// changePool gives a few more of the features to a NodePool.
func (w *world) changePool() {
	if p := w.onePool(); p != nil {
		w.varyPool(p)
		w.apply(p)
	}
}

// drift gives a NodePool another template, which may be one from before.
func (w *world) drift() {
	p, of := w.onePool(), fixtures.Key("template")
	if p == nil {
		return
	}
	switch w.between(1, 6) {
	case 1:
		p.Annotation(of, w.number(1, 3))
	case 2:
		p.TaintValue(of, w.number(1, 3), fixtures.PreferNoSchedule)
	case 3:
		p.TerminationGracePeriod(w.one("30s", "2m"))
	case 4:
		p.NodeClassCalled(env.AnotherNodeClass)
	default:
		p.Label(of, w.number(1, 3))
	}
	w.apply(p)
}

// retune changes what NodePools say of themselves or of later nodes, and not of those that there are: each something
// else.
func (w *world) retune() {
	first := w.between(0, 4)
	for i, p := range w.pools {
		switch what := (first + i) % 5; {
		case what == 0 && dynamic(p):
			p.Weight(w.between(1, 100))
		case what == 1 && dynamic(p) && expires(p):
			p.Limit("cpu", w.one("0", "500")) // its nodes expire all the same
		case what == 1 && dynamic(p):
			p.Limit("cpu", w.one("500", "600")) // more than there will be
		case what == 2:
			p.ConsolidateAfter(w.one("0s", "15s", "30s"))
		case what == 3:
			p.ExpireAfter(w.one("45s", "2m", "Never"))
		default:
			p.Budget(w.number(0, 3))
		}
		w.atOnce(applying(p))
	}
}

// expires reports whether the nodes of a NodePool expire.
func expires(p *fixtures.Pool) bool {
	age, said, _ := unstructured.NestedString(templateOf(p), "spec", "expireAfter")
	return !said || age != "Never"
}
