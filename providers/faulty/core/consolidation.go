package core

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// consolidationLies returns the lies about consolidation: which nodes, when, and which
// replacements.
func consolidationLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"consolidates-more-than-empty-nodes": reads(func(pool *v1.NodePool) {
			pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
		}, disrupting),
		"takes-every-policy-for-when-empty": reads(func(pool *v1.NodePool) {
			pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		}, disrupting),
		"consolidates-at-once": reads(func(pool *v1.NodePool) {
			if pool.Spec.Disruption.ConsolidateAfter.Duration != nil {
				pool.Spec.Disruption.ConsolidateAfter = v1.MustParseNillableDuration("0s")
			}
		}, marking, disrupting),
		"consolidates-what-never-is": reads(func(pool *v1.NodePool) {
			if pool.Spec.Disruption.ConsolidateAfter.Duration == nil {
				pool.Spec.Disruption.ConsolidateAfter = v1.MustParseNillableDuration("0s")
			}
		}, marking, disrupting),
		"takes-the-neighbours-too":  takesNeighbours(),
		"replaces-by-the-same-type": replacesAlike(),
		"overlooks-the-cost-of-moving": reads(func(pool *v1.NodePool) {
			if pool.Spec.Disruption.ConsolidationPolicy == v1.ConsolidationPolicyBalanced {
				pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
			}
		}, disrupting),
		"takes-balanced-for-empty": reads(func(pool *v1.NodePool) {
			if pool.Spec.Disruption.ConsolidationPolicy == v1.ConsolidationPolicyBalanced {
				pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
			}
		}, disrupting),
		"takes-all-pods-for-alike": reads(func(pod *corev1.Pod) {
			pod.Annotations, pod.Spec.Priority = nil, nil
		}, disrupting, rememberingPods),
		"overlooks-exclusions":         reads(func(pod *corev1.Pod) { pod.Spec.Affinity = nil }, disrupting, rememberingPods),
		"overlooks-wishes-to-be-apart": reads(dropPreferencesAboutPods, disrupting),
		"spares-pods-without-owner": reads(func(pod *corev1.Pod) {
			if len(pod.OwnerReferences) == 0 {
				pod.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
			}
		}, disrupting),
		"takes-daemons-for-work": reads(func(pod *corev1.Pod) {
			if podutils.IsOwnedByDaemonSet(pod) {
				pod.OwnerReferences = nil
			}
		}, disrupting),
		"overlooks-pod-budgets": reads(func(budget *policyv1.PodDisruptionBudget) {
			budget.Status.DisruptionsAllowed = 100
		}, disrupting),
		"overlooks-eviction-policies": reads(func(budget *policyv1.PodDisruptionBudget) {
			budget.Spec.UnhealthyPodEvictionPolicy = nil
		}, disrupting),
		"takes-nodes-for-larger": reads(func(node *corev1.Node) {
			cpu := node.Status.Allocatable[corev1.ResourceCPU]
			cpu.Add(resource.MustParse("1"))
			node.Status.Allocatable[corev1.ResourceCPU] = cpu
		}, rememberingNodes),
		"overlooks-pod-events":     leavesOut("nodeclaim.podevents"),
		"mistakes-the-reason":      mistakesReason(),
		"waits-for-pods-that-wait": waitsForPods(),
	}
}

// spotLies returns the lies about the consolidation of spot nodes.
func spotLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"offers-dearer-spot-types": writes(allowsMoreTypes, disrupting),
		"offers-fifteen-types":     writes(allowsFifteenTypes, disrupting),
		"takes-spot-for-on-demand": reads(func(node *corev1.Node) {
			if node.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeSpot {
				node.Labels[v1.CapacityTypeLabelKey] = v1.CapacityTypeOnDemand
			}
		}, rememberingNodes),
	}
}

// The names of core's controllers that track nodes and pods in its cluster state.
const (
	rememberingNodes = "state.node"
	rememberingPods  = "state.pod"
)

// mistakesReason returns a lie: the reason of every disruption is Underutilized, or Empty where that is right.
func mistakesReason() lie.Lie {
	return writesStatus(func(claim *v1.NodeClaim) {
		why := claim.StatusConditions().Get(v1.ConditionTypeDisruptionReason)
		if !why.IsTrue() {
			return
		}
		wrong := v1.DisruptionReasonUnderutilized
		if why.Reason == string(wrong) {
			wrong = v1.DisruptionReasonEmpty
		}
		claim.StatusConditions().SetTrueWithReason(v1.ConditionTypeDisruptionReason, string(wrong), "")
	}, disrupting)
}

// waitsForPods returns a lie: no pool lets a node be disrupted while any pod waits for a node.
func waitsForPods() lie.Lie {
	return deceives(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := c.List(ctx, list, append(slices.Clone(opts), copied)...); err != nil {
				return err
			}
			pools, ok := list.(*v1.NodePoolList)
			if !ok || !told(ctx, disrupting) {
				return nil
			}
			pods := &corev1.PodList{}
			if err := c.List(ctx, pods); err != nil {
				return fmt.Errorf("listing pods: %w", err)
			}
			if slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return pod.Spec.NodeName == "" }) {
				for i := range pools.Items {
					pools.Items[i].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
				}
			}
			return nil
		},
	})
}

// allowsMoreTypes lets a NodeClaim that is limited to fifteen instance types, as the replacements of
// spot nodes are, be of another one too.
func allowsMoreTypes(claim *v1.NodeClaim) {
	for i, r := range claim.Spec.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable && len(r.Values) == disruption.MinInstanceTypesForSpotToSpotConsolidation {
			claim.Spec.Requirements[i].Values = append(r.Values, "c-48x-amd64-linux")
		}
	}
}

// allowsFifteenTypes limits a NodeClaim to fifteen instance types, whatever minValues demand.
func allowsFifteenTypes(claim *v1.NodeClaim) {
	const most = disruption.MinInstanceTypesForSpotToSpotConsolidation
	for i, r := range claim.Spec.Requirements {
		if r.Key == corev1.LabelInstanceTypeStable && len(r.Values) > most {
			claim.Spec.Requirements[i].Values, claim.Spec.Requirements[i].MinValues = r.Values[:most], nil
		}
	}
}

// takesNeighbours returns a lie: when one node of a pool is removed, all others are too. Core
// then launches nodes for their pods.
func takesNeighbours() lie.Lie {
	return deceives(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, replacing) {
				return c.Delete(ctx, o, opts...)
			}
			claims := &v1.NodeClaimList{} // one by one: the controller may not delete collections
			if err := c.List(ctx, claims,
				client.MatchingLabels{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]}); err != nil {
				return fmt.Errorf("listing the pool's NodeClaims: %w", err)
			}
			for i := range claims.Items {
				if err := c.Delete(ctx, &claims.Items[i]); client.IgnoreNotFound(err) != nil {
					return err
				}
			}
			return nil
		},
	})
}

// replacesAlike returns a lie: a replacement has an instance type that its pool already has.
func replacesAlike() lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, disrupting) {
				return c.Create(ctx, o, opts...)
			}
			nodes := &corev1.NodeList{}
			if err := c.List(ctx, nodes,
				client.MatchingLabels{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]}); err != nil {
				return fmt.Errorf("listing the pool's nodes: %w", err)
			}
			var types []string
			for i := range nodes.Items {
				types = append(types, nodes.Items[i].Labels[corev1.LabelInstanceTypeStable])
			}
			at := slices.IndexFunc(claim.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool {
				return r.Key == corev1.LabelInstanceTypeStable
			})
			if at >= 0 && len(types) > 0 {
				claim.Spec.Requirements[at].Values = types
			}
			return c.Create(ctx, claim, opts...)
		},
	})
}
