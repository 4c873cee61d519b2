package draw

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Keys that sequences share between NodePools and workloads.
var (
	dedicated = fixtures.Key("dedicated") //nolint:gochecknoglobals // a constant
	team      = fixtures.Key("team")      //nolint:gochecknoglobals // a constant
)

// features returns those that a domain has.
func (d Domain) features() []feature {
	all := slices.Concat(ofPools(), ofPods(), ofTheirPlaces(), besideWorkloads(), acts(), ofClouds(), ofRequests())
	return slices.DeleteFunc(all, func(f feature) bool { return f.can != nil && !f.can(d) })
}

func twoZones(d Domain) bool         { return len(d.Zones) > 1 }
func twoTypes(d Domain) bool         { return len(d.InstanceTypes) > 1 }
func twoCapacityTypes(d Domain) bool { return len(d.CapacityTypes) > 1 }

func capable(c providers.Capability) func(Domain) bool {
	return func(d Domain) bool { return d.can(c) }
}

func hooked(h providers.HookName) func(Domain) bool { return func(d Domain) bool { return d.has(h) } }

func ofPools() []feature {
	return []feature{
		{name: "pool: weight", pool: func(w *world, p *fixtures.Pool) { p.Weight(w.between(1, 100)) }},
		{name: "pool: limit of CPU", pool: func(w *world, p *fixtures.Pool) { p.Limit("cpu", w.number(1, 40)) }},
		{name: "pool: limit of memory", pool: func(w *world, p *fixtures.Pool) {
			p.Limit("memory", w.number(1, 80)+"Gi")
		}},
		{name: "pool: limit of nodes", pool: func(w *world, p *fixtures.Pool) { p.Limit("nodes", w.number(0, 6)) }},
		{name: "pool: budget", pool: func(w *world, p *fixtures.Pool) { p.Budget(w.number(0, 3)) }},
		{name: "pool: budget in percent", pool: func(w *world, p *fixtures.Pool) {
			p.Budget(w.one("0%", "10%", "34%", "50%", "100%"))
		}},
		{name: "pool: budget for a reason", pool: func(w *world, p *fixtures.Pool) {
			p.Budget(w.number(0, 2), w.some([]string{fixtures.Drifted, fixtures.Empty, fixtures.Underutilized})...)
		}},
		{name: "pool: budget with a schedule", pool: func(w *world, p *fixtures.Pool) {
			p.BudgetDuring(fixtures.WindowEvery(w.between(3, 6), w.between(1, 2)), w.number(0, 2))
		}},
		{name: "pool: taint", pool: func(w *world, p *fixtures.Pool) {
			p.Taint(dedicated, w.one(string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectNoExecute),
				string(corev1.TaintEffectPreferNoSchedule)))
		}},
		{name: "pool: label", pool: func(w *world, p *fixtures.Pool) { p.Label(team, w.one("red", "blue")) }},
		{name: "pool: consolidation", pool: func(w *world, p *fixtures.Pool) {
			p.Consolidate(w.one(fixtures.WhenEmpty, fixtures.WhenEmptyOrUnderutilized)).
				ConsolidateAfter(w.one("0s", "5s", "30s", "2m"))
		}},
		{name: "pool: expiration", pool: func(w *world, p *fixtures.Pool) {
			p.ExpireAfter(w.one("45s", "2m", "10m"))
		}},
		{name: "pool: termination grace period", pool: func(w *world, p *fixtures.Pool) {
			p.TerminationGracePeriod(w.one("5s", "30s", "5m"))
		}},
		{name: "pool: capacity types", can: twoCapacityTypes, pool: func(w *world, p *fixtures.Pool) {
			p.CapacityType(w.some(w.domain.CapacityTypes)...)
		}},
		{name: "pool: zones", can: twoZones, pool: func(w *world, p *fixtures.Pool) {
			p.Require(corev1.LabelTopologyZone, w.one(fixtures.In, fixtures.NotIn), w.some(w.domain.Zones)...)
		}},
		{name: "pool: instance types", can: twoTypes, pool: func(w *world, p *fixtures.Pool) {
			p.Require(corev1.LabelInstanceTypeStable, w.one(fixtures.In, fixtures.NotIn), w.some(w.domain.InstanceTypes)...)
		}},
		{name: "pool: minValues", can: twoTypes, pool: func(w *world, p *fixtures.Pool) {
			p.MinValues(corev1.LabelInstanceTypeStable, w.between(1, 8))
		}},
		{name: "pool: replicas", can: capable(providers.StaticCapacity), pool: func(w *world, p *fixtures.Pool) {
			p.Replicas(w.between(0, 3))
		}},
	}
}

func ofTheirPlaces() []feature {
	return []feature{
		{name: "pods: of a pool", workload: func(w *world, a *fixtures.Workload) {
			if p := w.onePool(); p != nil {
				a.On(p)
			}
		}},
		{name: "pods: one on a node", workload: func(_ *world, a *fixtures.Workload) { a.OnePodPerNode() }},
		{name: "pods: spread over zones", can: twoZones, workload: func(w *world, a *fixtures.Workload) {
			a.Spread(w.spread(a, corev1.LabelTopologyZone))
		}},
		{name: "pods: spread over nodes", workload: func(w *world, a *fixtures.Workload) {
			a.Spread(w.spread(a, corev1.LabelHostname))
		}},
		{name: "pods: spread over capacity types", can: twoCapacityTypes, workload: func(w *world, a *fixtures.Workload) {
			a.Spread(w.spread(a, karpenter.CapacityTypeLabel))
		}},
		{name: "pods: zones", can: twoZones, workload: func(w *world, a *fixtures.Workload) {
			a.Require(corev1.LabelTopologyZone, w.one(fixtures.In, fixtures.NotIn), w.some(w.domain.Zones)...)
		}},
		{name: "pods: alternatives", can: twoZones, workload: func(w *world, a *fixtures.Workload) {
			a.OrRequire(corev1.LabelTopologyZone, fixtures.In, w.one(w.domain.Zones...)).
				OrRequire(karpenter.CapacityTypeLabel, fixtures.In, w.one(w.domain.CapacityTypes...))
		}},
		{name: "pods: preferred zones", can: twoZones, workload: func(w *world, a *fixtures.Workload) {
			a.Prefer(w.between(1, 100), corev1.LabelTopologyZone, fixtures.In, w.some(w.domain.Zones)...)
		}},
		{name: "pods: capacity type", can: twoCapacityTypes, workload: func(w *world, a *fixtures.Workload) {
			a.Select(karpenter.CapacityTypeLabel, w.one(w.domain.CapacityTypes...))
		}},
		{name: "pods: label of a pool", workload: func(w *world, a *fixtures.Workload) {
			a.Require(team, w.one(fixtures.In, fixtures.NotIn), w.one("red", "blue"))
		}},
		{name: "pods: toleration", workload: func(_ *world, a *fixtures.Workload) { a.Tolerate(dedicated) }},
		{name: "pods: affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PodAffinity(w.other(a), w.one(corev1.LabelHostname, corev1.LabelTopologyZone))
		}},
		{name: "pods: anti-affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PodAntiAffinity(w.other(a), w.one(corev1.LabelHostname, corev1.LabelTopologyZone))
		}},
		{name: "pods: preferred anti-affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PreferPodAntiAffinity(w.other(a), w.one(corev1.LabelHostname, corev1.LabelTopologyZone))
		}},
	}
}

func ofPods() []feature {
	return []feature{
		{name: "pods: CPU", workload: func(w *world, a *fixtures.Workload) {
			a.CPU(w.one("10m", "500m", "900m", "1", "1500m", "3", "7", "15"))
		}},
		{name: "pods: memory", workload: func(w *world, a *fixtures.Workload) {
			a.Memory(w.one("64Mi", "1Gi", "3Gi", "14Gi"))
		}},
		{name: "pods: host port", workload: func(w *world, a *fixtures.Workload) { a.HostPort(w.between(8080, 8081)) }},
		{name: "pods: deletion cost", workload: func(w *world, a *fixtures.Workload) {
			a.Annotate(corev1.PodDeletionCost, w.one("-2147483647", "-1000", "1000", "2147483647"))
		}},
		{name: "pods: do-not-disrupt", workload: func(_ *world, a *fixtures.Workload) {
			a.Annotate(karpenter.DoNotDisruptAnnotation, "true")
		}},
		{name: "pods: init container", workload: func(w *world, a *fixtures.Workload) {
			a.InitContainer(w.one("100m", "2", "7"))
		}},
		{name: "pods: sidecar", workload: func(w *world, a *fixtures.Workload) { a.Sidecar(w.one("100m", "1")) }},
		{name: "pods: grace period", workload: func(w *world, a *fixtures.Workload) {
			a.GracePeriod(w.between(1, 40))
		}},
		{name: "pods: priority", beside: func(w *world, a *fixtures.Workload) {
			class := fixtures.PriorityClass(w.between(-100, 100)).Unstructured()
			class.SetName(w.name("priority"))
			w.do(explore.Action{Do: explore.Apply, Object: class.Object})
			w.apply(a.Priority(class.GetName()))
		}},
		{name: "pods: critical", workload: func(w *world, a *fixtures.Workload) {
			a.Priority(w.one(fixtures.SystemClusterCritical, fixtures.SystemNodeCritical))
		}},
	}
}

// spread returns a rule that spreads the pods of a workload.
func (w *world) spread(a *fixtures.Workload, key string) *fixtures.Spread {
	s := fixtures.TopologySpread(key).Of(fixtures.WorkloadLabel, a.GetName()).MaxSkew(w.between(1, 2))
	if w.oneIn(3) {
		s.ScheduleAnyway()
	}
	return s
}

// other returns another workload, or this one if there is none.
func (w *world) other(than *fixtures.Workload) *fixtures.Workload {
	if len(w.workloads) == 0 {
		return than
	}
	return w.workloads[w.between(0, len(w.workloads)-1)]
}

func besideWorkloads() []feature {
	return []feature{
		{name: "PodDisruptionBudget", beside: func(w *world, a *fixtures.Workload) {
			if w.oneIn(2) {
				w.apply(a.MinAvailable(w.between(0, mostReplicas)))
				return
			}
			w.apply(a.MaxUnavailable(w.between(0, 2)))
		}},
		{name: "volume of zones", can: twoZones, beside: func(w *world, a *fixtures.Workload) {
			volume := fixtures.BoundZonalVolume(w.some(w.domain.Zones)...).Called(w.name("volume"))
			for _, o := range volume.Objects() {
				w.apply(o)
			}
			w.apply(a.Mount(volume))
		}},
		{name: "CapacityBuffer", can: capable(providers.CapacityBuffer), beside: func(w *world, a *fixtures.Workload) {
			w.apply(fixtures.CapacityBuffer(a).Called(w.name("buffer")).Pods(w.between(1, 4)))
		}},
	}
}

func acts() []feature {
	return []feature{
		{name: "a DaemonSet", act: func(w *world) {
			w.apply(fixtures.DaemonSet().Called(w.name("daemon")).CPU(w.one("10m", "500m")).Tolerate(dedicated))
		}},
		{name: "another template", act: func(w *world) {
			if p := w.onePool(); p != nil {
				w.apply(p.Label(fixtures.Key("template"), w.number(1, 9)))
			}
		}},
		{name: "a NodePool changes", act: func(w *world) {
			if p := w.onePool(); p != nil {
				w.varyPool(p)
				w.apply(p)
			}
		}},
		{name: "a NodePool goes", act: func(w *world) {
			if len(w.pools) == 0 {
				return
			}
			i := w.between(0, len(w.pools)-1)
			w.delete(w.pools[i])
			w.pools = slices.Delete(w.pools, i, i+1)
		}},
		{name: "a NodeClaim alone", can: capable(providers.StandaloneNodeClaims), act: func(w *world) {
			w.apply(fixtures.NodeClaim().Called(w.name("claim")).Request("cpu", w.number(1, 4)))
		}},
		{name: "a NodeOverlay", can: capable(providers.NodeOverlay), act: func(w *world) {
			w.apply(fixtures.NodeOverlay().Called(w.name("overlay")).PriceAdjustment(w.one("-50%", "+10%", "+100%")).
				Weight(w.between(1, 100)).
				Require(karpenter.CapacityTypeLabel, fixtures.In, w.some(w.domain.CapacityTypes)...))
		}},
		aboutNode("a Node is deleted", explore.DeleteNode, nil),
		aboutNode("a NodeClaim is deleted", explore.DeleteNodeClaim, nil),
		aboutNode("a node is tainted", explore.TaintNode, nil),
		aboutNode("a node is protected", explore.ProtectNode, nil),
		aboutNode("a node is unhealthy", explore.BreakNode, capable(providers.NodeRepair)),
		{name: "the controller dies", act: func(w *world) { w.do(explore.Action{Do: explore.KillController}) }},
		{name: "time passes", act: func(w *world) { w.do(explore.Action{Do: explore.Wait}) }},
	}
}

func aboutNode(name string, do explore.Verb, can func(Domain) bool) feature {
	return feature{name: name, can: can, act: func(w *world) {
		w.do(explore.Action{Do: do, Node: w.between(0, 5)})
	}}
}

// ofClouds returns what happens in the cloud or to the NodeClass, as far as the adapter has hooks for it.
func ofClouds() (all []feature) {
	for _, h := range explore.HooksAboutNodes() {
		all = append(all, feature{name: "cloud: " + string(h), can: hooked(h), act: func(w *world) {
			w.do(explore.Action{Do: explore.CallHook, Hook: h, Node: w.between(0, 5)})
		}})
	}
	for _, h := range explore.HooksAboutCloud() {
		all = append(all, feature{name: "cloud: " + string(h), can: hooked(h), act: func(w *world) {
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
			name: "fault: " + string(p), can: func(d Domain) bool { return len(struck(d)) > 0 },
			act: func(w *world) {
				w.do(explore.Action{
					Do: explore.Fault, Pattern: p, Request: w.one(struck(w.domain)...), Nth: w.between(1, 4),
				})
			},
		})
	}
	return all
}
