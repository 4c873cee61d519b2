package draw

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// tooMuch are more CPUs than an instance type has.
const tooMuch = "2000"

// nowhere returns what lets a pod fit on no node: whatever is launched for it is a mistake. A mistake about a pod that
// can run shows only where it takes the pod to another node than the scheduler does.
func nowhere() []feature {
	return []feature{
		nowhereBy("CPU", func(_ *world, p *fixtures.Workload) { p.CPU(tooMuch) }),
		nowhereBy("resource", func(_ *world, p *fixtures.Workload) { p.Extended(fixtures.Key("device"), "1") }),
		nowhereBy("init container", func(_ *world, p *fixtures.Workload) { p.InitContainer(tooMuch) }),
		nowhereBy("CPU of the whole pod", func(_ *world, p *fixtures.Workload) { p.PodCPU(tooMuch) }),
		nowhereBy("overhead", func(w *world, p *fixtures.Workload) {
			class := fixtures.Runtime(tooMuch).Called(w.name("runtime"))
			w.atOnce(applying(class))
			p.RunBy(class)
		}),
		nowhereBy("label", func(w *world, p *fixtures.Workload) {
			p.Select(w.one(corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, corev1.LabelArchStable, team), "none")
		}),
		nowhereBy("affinity", func(w *world, p *fixtures.Workload) {
			p.Require(w.one(corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, team), fixtures.In, "none")
		}),
		nowhereBy("excluded zones", func(w *world, p *fixtures.Workload) {
			p.Require(corev1.LabelTopologyZone, fixtures.NotIn, w.domain.Zones...).
				Require(karpenter.CapacityTypeLabel, fixtures.NotIn, w.domain.CapacityTypes...)
		}).where(twoZones),
		nowhereBy("absent pods", func(w *world, p *fixtures.Workload) {
			p.Near(fixtures.PodTerm(w.topology()).Of(fixtures.WorkloadLabel, "none"))
		}),
		nowhereBy("absent pods by an expression", func(w *world, p *fixtures.Workload) {
			p.Label(team, "red").Near(fixtures.PodTerm(w.topology()).Of(team, "red").
				Where(fixtures.WorkloadLabel, fixtures.In, "none"))
		}),
		nowhereBy("absent domains", func(_ *world, p *fixtures.Workload) {
			p.Spread(fixtures.TopologySpread(fixtures.Key("rack")))
		}),
		nowhereBy("absent volume", func(w *world, p *fixtures.Workload) {
			p.Mount(fixtures.Existing("v1", "PersistentVolumeClaim", w.name("volume")))
		}),
		nowhereBy("lost volume", func(w *world, p *fixtures.Workload) {
			claim := w.name("volume")
			for _, o := range lostVolume(claim) {
				w.atOnce(explore.Action{Do: explore.Apply, Object: o.Object})
			}
			p.Mount(fixtures.Existing("v1", "PersistentVolumeClaim", claim))
		}),
		nowhereBy("volume of another zone", func(w *world, p *fixtures.Workload) {
			here := w.one(w.domain.Zones...)
			volume := fixtures.BoundZonalVolume(here)
			if w.oneIn(2) {
				volume = fixtures.UnboundZonalVolume(here)
			}
			for _, o := range volume.Called(w.name("volume")).Objects() {
				w.atOnce(applying(o))
			}
			p.Mount(volume).Require(corev1.LabelTopologyZone, fixtures.NotIn, here)
		}).where(twoZones),
		nowhereBy("scheduling gate", func(_ *world, p *fixtures.Workload) { p.Gated(fixtures.Key("admitted")) }),
		nowhereBy("another scheduler", func(_ *world, p *fixtures.Workload) { p.ScheduledBy(fixtures.Domain) }),
		nowhereBy("absent device", func(w *world, p *fixtures.Workload) { w.claimDevice(p) }),
		nowhereBy("absent device of a container", func(w *world, p *fixtures.Workload) { p.Use(w.claimDevice(p)) }),
	}
}

// nowhereOn returns NodePools on which pods that ask for them don't fit.
func nowhereOn() []feature {
	return []feature{
		nowhereBy("taint", func(w *world, p *fixtures.Workload) {
			p.On(w.poolWith(func(pool *fixtures.Pool) { pool.Taint(dedicated, fixtures.NoSchedule) }))
		}),
		nowhereBy("taint of another value", func(w *world, p *fixtures.Workload) {
			pool := w.poolWith(func(pool *fixtures.Pool) { pool.TaintValue(dedicated, "red", fixtures.NoSchedule) })
			p.On(pool).TolerateValue(dedicated, "blue")
		}),
		nowhereBy("NodePool that isn't ready", func(w *world, p *fixtures.Workload) {
			p.On(w.poolWith(func(pool *fixtures.Pool) { pool.NodeClassCalled("none") }))
		}),
		nowhereBy("NodePool without instance types", func(w *world, p *fixtures.Workload) {
			p.On(w.poolWith(func(pool *fixtures.Pool) { pool.Require(corev1.LabelInstanceTypeStable, fixtures.In, "none") }))
		}),
		nowhereBy("minValues", func(w *world, p *fixtures.Workload) {
			p.On(w.poolWith(func(pool *fixtures.Pool) { pool.MinValues(corev1.LabelTopologyZone, 50) }))
		}),
		nowhereBy("limit", func(w *world, p *fixtures.Workload) {
			p.On(w.poolWith(func(pool *fixtures.Pool) { pool.Limit(w.one("cpu", "memory"), "0") }))
		}),
		nowhereBy("limit of nodes", func(w *world, p *fixtures.Workload) {
			p.On(w.poolWith(func(pool *fixtures.Pool) { pool.Limit("nodes", "0") }))
		}).where(since(karpenter.NodeLimitsSince)),
	}
}

// claimDevice makes a pod claim a device of a DeviceClass that doesn't exist.
func (w *world) claimDevice(p *fixtures.Workload) fixtures.Object {
	claim := fixtures.ResourceClaim(fixtures.Domain).Unstructured()
	claim.SetName(w.name("device"))
	w.atOnce(explore.Action{Do: explore.Apply, Object: claim.Object})
	claimed := fixtures.Existing(claim.GetAPIVersion(), claim.GetKind(), claim.GetName())
	p.Claim(claimed)
	return claimed
}

// lostVolume returns a volume, and a claim of the same name that has lost it.
func lostVolume(called string) []*unstructured.Unstructured {
	volume, claim := fixtures.LostVolume()
	v, c := volume.Unstructured(), claim.Unstructured()
	v.SetName(called)
	c.SetName(called)
	v.Object["spec"].(map[string]any)["claimRef"].(map[string]any)["name"] = called + "-winner"
	c.Object["spec"].(map[string]any)["volumeName"] = called
	return []*unstructured.Unstructured{v, c}
}

func nowhereBy(what string, change func(*world, *fixtures.Workload)) feature {
	return feature{name: "pods that fit nowhere: " + what, nowhere: change}
}

func (f feature) where(can func(Domain) bool) feature {
	f.can = can
	return f
}

// addNowhere applies pods that fit on no node, lets Karpenter look at them more than once, and deletes them again:
// while pods wait, empty nodes may stay.
func (w *world) addNowhere() {
	var pods []*fixtures.Workload
	for _, f := range w.features {
		if f.nowhere != nil {
			pod := fixtures.Pod().Called(w.name("nowhere"))
			apart(pod)
			f.nowhere(w, pod)
			pods = append(pods, pod)
		}
	}
	if len(pods) == 0 {
		return
	}
	w.wait(3 * time.Second) // until the NodePools are ready
	for _, pod := range pods {
		w.atOnce(applying(pod))
	}
	w.wait(30 * time.Second)
	for _, pod := range pods {
		w.atOnce(deleting(pod))
	}
}

// atOnce adds an action after which no time passes.
func (w *world) atOnce(a explore.Action) { w.doThen(a, 0) }

// poolWith returns a new NodePool that no other pods select.
func (w *world) poolWith(change func(*fixtures.Pool)) *fixtures.Pool {
	pool := fixtures.NodePool().Called(w.name("pool"))
	change(pool)
	w.atOnce(applying(pool))
	return pool
}
