package draw

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

func ofPools() []feature {
	static := capableSince(karpenter.StaticCapacitySince, providers.StaticCapacity)
	return []feature{
		{name: "pool: weight", dynamic: true, pool: func(w *world, p *fixtures.Pool) { p.Weight(w.between(1, 100)) }},
		{name: "pool: limit of CPU", dynamic: true, pool: func(w *world, p *fixtures.Pool) {
			p.Limit("cpu", w.number(2, 40))
		}},
		{name: "pool: limit of memory", dynamic: true, pool: func(w *world, p *fixtures.Pool) {
			p.Limit("memory", w.number(4, 80)+"Gi")
		}},
		{name: "pool: limit of nodes", can: since(karpenter.NodeLimitsSince), pool: func(w *world, p *fixtures.Pool) {
			p.Limit("nodes", w.number(1, 6))
		}},
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
			p.Taint(dedicated, w.effect())
		}},
		{name: "pool: label", pool: func(w *world, p *fixtures.Pool) { p.Label(team, w.one("red", "blue")) }},
		{name: "pool: consolidation", pool: func(w *world, p *fixtures.Pool) {
			p.Consolidate(w.one(fixtures.WhenEmpty, fixtures.WhenEmptyOrUnderutilized)).
				ConsolidateAfter(w.one("0s", "5s", "30s", "2m"))
		}},
		{name: "pool: balanced consolidation", pool: func(_ *world, p *fixtures.Pool) { p.Consolidate(fixtures.Balanced) }},
		{name: "pool: expiration", pool: func(w *world, p *fixtures.Pool) {
			p.ExpireAfter(w.one("75s", "2m", "10m"))
		}},
		{name: "pool: termination grace period", pool: func(w *world, p *fixtures.Pool) {
			p.TerminationGracePeriod(w.one("5s", "30s", "5m"))
		}},
		{name: "pool: capacity types", can: twoCapacityTypes, pool: func(w *world, p *fixtures.Pool) {
			p.CapacityType(w.some(w.domain.CapacityTypes)...)
		}},
		{name: "pool: zones", can: twoZones, pool: func(w *world, p *fixtures.Pool) {
			p.Require(corev1.LabelTopologyZone, fixtures.NotIn, w.one(w.domain.Zones...))
		}},
		{name: "pool: instance types", can: twoTypes, pool: func(w *world, p *fixtures.Pool) {
			p.Require(corev1.LabelInstanceTypeStable, w.one(fixtures.In, fixtures.NotIn), w.some(w.domain.InstanceTypes)...)
		}},
		{name: "pool: minValues", can: twoTypes, pool: func(w *world, p *fixtures.Pool) {
			p.MinValues(corev1.LabelInstanceTypeStable, w.between(1, 8))
		}},
		{name: "pool: replicas", can: static, static: true, act: func(w *world) {
			if pools := slices.DeleteFunc(slices.Clone(w.pools), dynamic); len(pools) > 0 {
				w.apply(rapid.SampledFrom(pools).Draw(w.t, "pool").Replicas(w.between(0, 4)))
			}
		}},
	}
}

// dynamic reports whether a NodePool launches nodes for pods. It stays so, and static ones stay static.
func dynamic(p *fixtures.Pool) bool {
	_, static, _ := unstructured.NestedFieldNoCopy(p.Unstructured().Object, "spec", "replicas")
	return !static
}

// ofTemplates returns what else NodePools say of their nodes, and what they say of themselves alone.
func ofTemplates() []feature {
	return []feature{
		{name: "pool: startup taint", pool: func(w *world, p *fixtures.Pool) {
			p.StartupTaint(explore.StartupTaint, w.effect())
			w.agents = true
		}},
		{name: "pool: taint with a value", pool: func(w *world, p *fixtures.Pool) {
			p.TaintValue(dedicated, w.one("red", "blue"), w.effect())
		}},
		{name: "pool: annotation", pool: func(w *world, p *fixtures.Pool) { p.Annotation(team, w.one("red", "blue")) }},
		{name: "pool: values of a label", pool: func(w *world, p *fixtures.Pool) {
			p.Require(team, fixtures.In, w.some([]string{"red", "blue", "green"})...)
		}},
		{name: "pool: any value of a label", pool: func(_ *world, p *fixtures.Pool) { p.Require(team, fixtures.Exists) }},
		{name: "pool: numbers of a label", pool: func(w *world, p *fixtures.Pool) {
			p.Require(size, w.one(fixtures.Gt, fixtures.Lt), w.number(2, 7))
		}},
		{name: "pool: label of its own", pool: func(w *world, p *fixtures.Pool) { p.OwnLabel(team, w.one("red", "blue")) }},
		{name: "pool: another NodeClass", pool: func(_ *world, p *fixtures.Pool) { p.NodeClassCalled(env.AnotherNodeClass) }},
		{name: "pool: default budgets", pool: func(_ *world, p *fixtures.Pool) { p.DefaultBudgets() }},
		{name: "pool: default expiration", pool: func(_ *world, p *fixtures.Pool) { p.DefaultExpireAfter() }},
		{name: "pool: taints in another order", pool: func(_ *world, p *fixtures.Pool) { p.ReverseTaints() }},
	}
}

func (w *world) effect() string {
	return w.one(fixtures.NoSchedule, fixtures.NoExecute, fixtures.PreferNoSchedule)
}

// valuesOf returns the values that a NodePool gives to a label of its nodes.
func valuesOf(p *fixtures.Pool, key string) (values []string) {
	template := templateOf(p)
	if value, found, _ := unstructured.NestedString(template, "metadata", "labels", key); found {
		values = append(values, value)
	}
	return append(values, allowed(template, key)...)
}

// requires reports whether a NodePool has a requirement about a label.
func requires(p *fixtures.Pool, key string) bool { return len(requirementsOf(templateOf(p), key)) > 0 }

func templateOf(p *fixtures.Pool) map[string]any {
	template, _, _ := unstructured.NestedMap(p.Unstructured().Object, "spec", "template")
	return template
}
