package draw

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

func ofPods() []feature {
	return []feature{
		{name: "pods: CPU", workload: func(w *world, a *fixtures.Workload) {
			a.CPU(w.one("10m", "500m", "900m", "1", "1500m", "3", "7"))
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

func ofTheirPlaces() []feature {
	return []feature{
		{name: "pods: of a pool", workload: func(w *world, a *fixtures.Workload) {
			if p := w.onePool(); p != nil {
				a.On(p).Tolerate(dedicated)
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
			if w.oneIn(2) {
				a.Require(corev1.LabelTopologyZone, fixtures.NotIn, w.one(w.domain.Zones...))
				return
			}
			a.Require(corev1.LabelTopologyZone, fixtures.In, w.some(w.domain.Zones)...)
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
			if offered := w.offered(team); len(offered) > 0 && !w.oneIn(3) {
				a.Require(team, fixtures.In, w.one(offered...))
				return
			}
			a.Require(team, fixtures.NotIn, w.one("red", "blue"))
		}},
		{name: "pods: toleration", workload: func(_ *world, a *fixtures.Workload) { a.Tolerate(dedicated) }},
		{name: "pods: affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PodAffinity(w.other(a), w.topology())
		}},
		{name: "pods: anti-affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PodAntiAffinity(w.other(a), w.topology())
		}},
		{name: "pods: preferred anti-affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PreferPodAntiAffinity(w.other(a), w.topology())
		}},
	}
}

// ofRules returns the details of rules about other pods, and those that are rarely used.
func ofRules() []feature {
	return []feature{
		{name: "pods: preferred affinity", workload: func(w *world, a *fixtures.Workload) {
			a.PreferPodAffinity(w.other(a), w.topology())
		}},
		{name: "pods: near or apart by expressions", workload: func(w *world, a *fixtures.Workload) {
			t := fixtures.PodTerm(w.topology()).Where(set, fixtures.Exists).
				Where(set, w.one(fixtures.In, fixtures.NotIn), w.other(a).GetName())
			if w.oneIn(2) {
				a.Apart(t)
				return
			}
			a.Near(t)
		}},
		{name: "pods: apart from any in all namespaces", workload: func(w *world, a *fixtures.Workload) {
			a.Apart(fixtures.PodTerm(w.topology()).Of(fixtures.WorkloadLabel, w.other(a).GetName()).InAllNamespaces())
		}},
		{name: "pods: spread with policies", workload: func(w *world, a *fixtures.Workload) {
			a.Spread(w.spread(a, w.topology()).NodeAffinityPolicy(w.one(fixtures.Honor, fixtures.Ignore)).
				NodeTaintsPolicy(w.one(fixtures.Honor, fixtures.Ignore)))
		}},
		{name: "pods: spread over so many zones", can: twoZones, workload: func(w *world, a *fixtures.Workload) {
			a.Spread(fixtures.TopologySpread(corev1.LabelTopologyZone).MinDomains(w.between(2, len(w.domain.Zones))))
		}},
		{name: "pods: spread with others", workload: func(w *world, a *fixtures.Workload) {
			a.Spread(fixtures.TopologySpread(w.topology()).Where(set, fixtures.Exists))
		}},
		{name: "pods: spread of each revision", workload: func(w *world, a *fixtures.Workload) {
			a.Spread(fixtures.TopologySpread(w.topology()).Where(set, fixtures.Exists).
				ByLabel(appsv1.DefaultDeploymentUniqueLabelKey))
		}},
		{name: "pods: values of a label", workload: func(w *world, a *fixtures.Workload) {
			if len(w.offered(team)) > 0 && w.oneIn(2) {
				a.Require(team, fixtures.Exists)
				return
			}
			a.Require(team, fixtures.DoesNotExist)
		}},
		{name: "pods: numbers of a label", workload: func(w *world, a *fixtures.Workload) {
			w.needPoolOf(size)
			a.Require(size, w.one(fixtures.Gt, fixtures.Lt), w.number(0, 8))
		}},
		{name: "pods: numbers of a label but for some", workload: func(w *world, a *fixtures.Workload) {
			w.needPoolOf(size)
			a.Require(size, fixtures.Gt, "0").AndRequire(size, fixtures.Lt, w.number(2, 6)).
				AndRequire(size, fixtures.NotIn, w.some([]string{"1", "2", "3", "4", "5"})...)
		}},
		{name: "pods: toleration of a value", workload: func(w *world, a *fixtures.Workload) {
			a.TolerateValue(dedicated, w.one("red", "blue"))
		}},
		{name: "pods: toleration of an effect", workload: func(w *world, a *fixtures.Workload) {
			a.TolerateEffect(dedicated, w.effect())
		}},
		{name: "pods: toleration of everything", workload: func(w *world, a *fixtures.Workload) {
			a.TolerateAll(w.effect())
		}},
	}
}

// ofContainers returns what else pods need, and what keeps them from being scheduled.
func ofContainers() []feature {
	return []feature{
		{name: "pods: second container", workload: func(w *world, a *fixtures.Workload) { a.Container(w.one("100m", "1")) }},
		{name: "pods: limits without requests", workload: func(w *world, a *fixtures.Workload) {
			a.WithoutRequests().Limit("cpu", w.one("500m", "2"))
		}},
		{name: "pods: host port of a sidecar", workload: func(w *world, a *fixtures.Workload) {
			a.SidecarHostPort(w.between(8080, 8081))
		}},
		{name: "pods: host port of a kind", workload: func(w *world, a *fixtures.Workload) {
			if port := w.between(8080, 8081); w.oneIn(2) {
				a.HostPortBy(string(corev1.ProtocolUDP), port)
			} else {
				a.HostPortAt("127.0.0.1", port)
			}
		}},
		{name: "pods: network of the host", workload: func(w *world, a *fixtures.Workload) {
			a.OnHostNetwork(w.between(8080, 8081))
		}},
		{name: "pods: CPU of the whole pod", workload: func(w *world, a *fixtures.Workload) { a.PodCPU(w.one("1", "3")) }},
		{name: "pods: overhead", beside: func(w *world, a *fixtures.Workload) {
			class := fixtures.Runtime(w.one("500m", "2")).Called(w.name("runtime"))
			w.apply(class)
			w.apply(a.RunBy(class))
		}},
		{name: "pods: do-not-disrupt for some time", workload: func(w *world, a *fixtures.Workload) {
			a.Annotate(karpenter.DoNotDisruptAnnotation, w.one("false", "10s", "2m"))
		}},
	}
}

func (w *world) topology() string { return w.one(corev1.LabelHostname, corev1.LabelTopologyZone) }

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
