package draw

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Keys that sequences share between NodePools and workloads. The pods of a workload have its name by the key set.
// Daemons don't: Karpenter knows no daemons on nodes that don't exist yet (upstream issue 2984), so that rules about
// pods that include them break what is known to break.
var (
	dedicated = fixtures.Key("dedicated") //nolint:gochecknoglobals // a constant
	team      = fixtures.Key("team")      //nolint:gochecknoglobals // a constant
	size      = fixtures.Key("size")      //nolint:gochecknoglobals // a constant
	set       = fixtures.Key("set")       //nolint:gochecknoglobals // a constant
)

// features returns those that a domain has.
func (d Domain) features() []feature {
	all := slices.Concat(ofPools(), ofTemplates(), ofPods(), ofTheirPlaces(), ofRules(), ofContainers(), nowhere(),
		nowhereOn(), besideWorkloads(), acts(), alone(), ofClouds(), ofRequests())
	return slices.DeleteFunc(all, func(f feature) bool {
		return f.can != nil && !f.can(d) || slices.Contains(d.Refused, f.name)
	})
}

func twoZones(d Domain) bool         { return len(d.Zones) > 1 }
func twoTypes(d Domain) bool         { return len(d.InstanceTypes) > 1 }
func twoCapacityTypes(d Domain) bool { return len(d.CapacityTypes) > 1 }

func capable(c providers.Capability) func(Domain) bool {
	return func(d Domain) bool { return d.can(c) }
}

// capableSince is for what needs a capability, which Karpenter has from a release on.
func capableSince(release string, c providers.Capability) func(Domain) bool {
	can, is := capable(c), since(release)
	return func(d Domain) bool { return can(d) && is(d) }
}

// since is for what Karpenter promises from a release on, such as 1.11. Earlier ones accept it, and do nothing of it.
func since(release string) func(Domain) bool {
	return func(d Domain) bool {
		return !semver.IsValid(d.Karpenter) || semver.Compare(d.Karpenter, "v"+release) >= 0
	}
}

func hooked(h providers.HookName) func(Domain) bool { return func(d Domain) bool { return d.has(h) } }

func besideWorkloads() []feature {
	return []feature{
		{name: "PodDisruptionBudget", beside: func(w *world, a *fixtures.Workload) {
			budget := a.MaxUnavailable(w.between(0, 2))
			if w.oneIn(2) {
				budget = a.MinAvailable(w.between(0, mostReplicas))
			}
			if w.oneIn(4) {
				budget.EvictUnready()
			}
			w.apply(budget)
		}},
		{name: "volume of zones", can: twoZones, beside: func(w *world, a *fixtures.Workload) {
			w.mount(a, fixtures.BoundZonalVolume(w.some(w.domain.Zones)...))
		}},
		{name: "volume of a storage class", can: twoZones, beside: func(w *world, a *fixtures.Workload) {
			w.mount(a, fixtures.UnboundZonalVolume(w.some(w.domain.Zones)...))
		}},
		{
			name: "CapacityBuffer", can: capableSince(karpenter.BuffersSince, providers.CapacityBuffer),
			beside: (*world).addBuffer,
		},
	}
}

// addBuffer applies room for more pods of a workload.
func (w *world) addBuffer(a *fixtures.Workload) {
	buffer := fixtures.CapacityBuffer(a).Called(w.name("buffer"))
	if w.oneIn(2) {
		buffer.Percentage(w.between(10, 200))
	} else {
		buffer.Pods(w.between(1, 4))
	}
	if w.oneIn(3) {
		buffer.Limit("cpu", w.number(1, 4))
	}
	w.extra(buffer)
}

// mount gives the pods of a workload a volume.
func (w *world) mount(a *fixtures.Workload, volume *fixtures.ZonalVolume) {
	for _, o := range volume.Called(w.name("volume")).Objects() {
		w.apply(o)
	}
	w.apply(a.Mount(volume))
}

func acts() []feature {
	return []feature{
		{name: "a DaemonSet", act: func(w *world) {
			daemon := fixtures.DaemonSet().Called(w.name("daemon")).CPU(w.one("10m", "500m")).Tolerate(dedicated)
			w.varyWorkload(daemon)
			if w.oneIn(3) { // as daemons do that need a node's devices
				daemon.Select(karpenter.InitializedLabel, "true")
			}
			w.extra(daemon)
		}},
		{name: "another template", act: (*world).drift},
		{name: "a NodePool changes", act: (*world).changePool},
		{name: "a NodePool goes", act: func(w *world) {
			w.pools = deleteOne(w, w.pools)
		}},
		{name: "NodePools go after their nodes", end: func(w *world) {
			for _, p := range w.pools {
				w.deleteInForeground(p)
			}
		}},
		aboutNode("a Node is deleted", explore.DeleteNode, nil),
		aboutNode("a NodeClaim is deleted", explore.DeleteNodeClaim, nil),
		aboutNode("a node is tainted", explore.TaintNode, nil),
		aboutNode("a node is protected", explore.ProtectNode, nil),
		aboutNode("a node is unhealthy", explore.BreakNode, capable(providers.NodeRepair)),
		aboutNode("a node needs a reboot", explore.RebootNode, capable(providers.NodeReboot)),
		{name: "what is beside goes", act: func(w *world) {
			w.extras = deleteOne(w, w.extras)
		}},
		{name: "agents start", act: (*world).startAgents},
		{name: "the controller dies", act: func(w *world) { w.do(explore.Action{Do: explore.KillController}) }},
		{name: "time passes", act: func(w *world) { w.wait(time.Minute, 2*time.Minute, 6*time.Minute) }},
	}
}

// startAgents lets agents start if nodes wait for them.
func (w *world) startAgents() {
	if w.agents {
		w.agents = false
		w.do(explore.Action{Do: explore.StartAgents})
	}
}

// alone returns what comes without a workload or a NodePool.
func alone() []feature {
	return []feature{
		{name: "a NodeClaim alone", can: capable(providers.StandaloneNodeClaims), act: func(w *world) {
			w.extra(w.nodeClaim())
		}},
		{name: "a Pod alone", act: func(w *world) {
			pod := fixtures.Pod().Called(w.name("pod"))
			w.varyWorkload(pod)
			w.extra(pod)
		}},
		{name: "a NodeOverlay", can: capableSince(karpenter.OverlaysSince, providers.NodeOverlay), act: func(w *world) {
			overlay := fixtures.NodeOverlay().Called(w.name("overlay")).Weight(w.between(1, 3)).
				Require(karpenter.CapacityTypeLabel, fixtures.In, w.some(w.domain.CapacityTypes)...)
			if w.oneIn(3) {
				overlay.Price(w.one("0.001", "1", "100"))
			} else {
				overlay.PriceAdjustment(w.one("-50%", "+10%", "+100%"))
			}
			w.extra(overlay)
		}},
	}
}

// nodeClaim returns a NodeClaim of no NodePool.
func (w *world) nodeClaim() *fixtures.LoneNodeClaim {
	claim := fixtures.NodeClaim().Called(w.name("claim")).Request("cpu", w.number(1, 4))
	for _, vary := range []func(){
		func() { claim.Label(team, w.one("red", "blue")) },
		func() { claim.Annotation(team, w.one("red", "blue")) },
		func() { claim.Taint(dedicated, w.effect()) },
		func() { claim.TerminationGracePeriod(w.one("5s", "5m")) },
		func() { claim.ExpireAfter(w.one("45s", "2m")) },
	} {
		if w.oneIn(4) {
			vary()
		}
	}
	return claim
}

func aboutNode(name string, do explore.Verb, can func(Domain) bool) feature {
	return feature{name: name, can: can, act: func(w *world) {
		w.do(explore.Action{Do: do, Node: w.between(0, 5)})
	}}
}

// ofClouds returns what happens in the cloud or to the NodeClass, as far as the adapter has hooks for it.
func ofClouds() (all []feature) {
	for _, h := range explore.HooksAboutNodes() {
		all = append(all, feature{name: "cloud: " + string(h), can: hooked(h), disturbs: true, act: func(w *world) {
			w.do(explore.Action{Do: explore.CallHook, Hook: h, Node: w.between(0, 5)})
		}})
	}
	for _, h := range explore.HooksAboutCloud() {
		all = append(all, feature{name: "cloud: " + string(h), can: hooked(h), disturbs: true, act: func(w *world) {
			w.do(explore.Action{Do: explore.CallHook, Hook: h, Count: w.between(1, 3)})
		}})
	}
	return all
}

// ofRequests returns what goes wrong between the controller and the API server or the cloud.
func ofRequests() (all []feature) {
	for _, p := range slices.Concat(faults.Patterns(), faults.WatchPatterns()) {
		struck := func(d Domain) (kinds []string) {
			return slices.DeleteFunc(slices.Clone(d.Requests), func(kind string) bool { return !p.Strikes(kind) })
		}
		all = append(all, feature{
			name: "fault: " + string(p), can: func(d Domain) bool { return len(struck(d)) > 0 }, disturbs: true,
			act: func(w *world) {
				kinds := struck(w.domain)
				ofNodeClaims := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool {
					return !strings.Contains(kind, "nodeclaims")
				})
				if len(ofNodeClaims) > 0 && w.oneIn(2) { // no others matter as much
					kinds = ofNodeClaims
				}
				w.do(explore.Action{Do: explore.Fault, Pattern: p, Request: w.one(kinds...), Nth: w.between(1, 3)})
			},
		})
	}
	return all
}
