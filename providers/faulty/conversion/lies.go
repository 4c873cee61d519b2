package main

import (
	"maps"
	"time"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1beta1"
)

// lies returns every lie by its name.
func lies() map[string]lie {
	all := conversionLies()
	maps.Copy(all, releaseLies())
	return all
}

// releaseLies returns the lies about what else a release does that serves both versions: its CRDs, the
// migration of what is stored, and how pods move from one version's pools to the other's.
func releaseLies() map[string]lie {
	return map[string]lie{
		"serves-version-one-alone":       {crd: servesVersionOneAlone},
		"accepts-requests-of-pools":      {crd: acceptsRequestsOfPools},
		"migrates-nothing":               {drops: migrates},
		"says-that-all-is-migrated":      {drops: writesStored, list: findsNothingStored},
		"stores-version-one-again":       {beside: storesVersionOneAgain},
		"lets-old-pools-go-first":        {create: letsPoolsGoFirst},
		"ends-drifted-nodes-at-once":     {beside: endsDriftedAtOnce},
		"ends-the-rest-when-one-is-gone": {beside: endsTheRest},
	}
}

// conversionLies returns the lies of the conversion webhook.
func conversionLies() map[string]lie {
	return map[string]lie{
		"drops-template-labels": {poolFrom: func(p *v1.NodePool) { p.Spec.Template.Labels = nil }},
		"forgets-the-values-of-taints": {poolTo: func(p *v1beta1.NodePool) {
			for i := range p.Spec.Template.Spec.Taints {
				p.Spec.Template.Spec.Taints[i].Value = ""
			}
		}},
		"takes-startup-taints-for-taints": {poolFrom: func(p *v1.NodePool) {
			spec := &p.Spec.Template.Spec
			spec.Taints, spec.StartupTaints = append(spec.Taints, spec.StartupTaints...), nil
		}},
		"forgets-least-values-of-requirements": {
			poolFrom: func(p *v1.NodePool) { forgetLeastValues(p.Spec.Template.Spec.Requirements) },
			from:     func(c *v1.NodeClaim) { forgetLeastValues(c.Spec.Requirements) },
		},
		"drops-the-weight": {poolTo: func(p *v1beta1.NodePool) { p.Spec.Weight = nil }},
		"drops-limits":     {poolFrom: func(p *v1.NodePool) { p.Spec.Limits = nil }},
		"keeps-one-budget": {poolFrom: func(p *v1.NodePool) {
			p.Spec.Disruption.Budgets = p.Spec.Disruption.Budgets[:1]
		}},
		"forgets-budgets-of-v-one":   {poolTo: func(p *v1beta1.NodePool) { p.Spec.Disruption.Budgets = nil }},
		"consolidates-empty-at-once": {poolFrom: func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = after(0) }},
		"waits-before-it-consolidates": {poolFrom: func(p *v1.NodePool) {
			if p.Spec.Disruption.ConsolidationPolicy == v1.ConsolidationPolicyWhenEmptyOrUnderutilized {
				p.Spec.Disruption.ConsolidateAfter = after(30 * time.Second)
			}
		}},
		"consolidates-empty-nodes-alone": {poolFrom: func(p *v1.NodePool) {
			p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		}},
		"expires-an-hour-later": {poolFrom: func(p *v1.NodePool) {
			if d := p.Spec.Template.Spec.ExpireAfter.Duration; d != nil {
				p.Spec.Template.Spec.ExpireAfter = after(*d + time.Hour)
			}
		}},
		"lets-nodes-expire": {poolFrom: func(p *v1.NodePool) {
			if p.Spec.Template.Spec.ExpireAfter.Duration == nil {
				p.Spec.Template.Spec.ExpireAfter = after(720 * time.Hour)
			}
		}},
		"drops-kubelet-settings": {poolFrom: func(p *v1.NodePool) {
			delete(p.Annotations, v1.KubeletCompatibilityAnnotationKey)
		}},
		"takes-the-version-for-the-group": {
			poolFrom: func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Group += "/v1alpha1" },
			from:     func(c *v1.NodeClaim) { c.Spec.NodeClassRef.Group += "/v1alpha1" },
		},
		"completes-no-kind":           {poolFrom: completesNoKind},
		"hides-what-pools-have":       {poolTo: func(p *v1beta1.NodePool) { p.Status.Resources = nil }},
		"lets-old-node-claims-expire": {from: func(c *v1.NodeClaim) { c.Spec.ExpireAfter = after(720 * time.Hour) }},
		"drops-resources":             {from: func(c *v1.NodeClaim) { c.Spec.Resources.Requests = nil }},
		"hides-taints-of-node-claims": {to: func(c *v1beta1.NodeClaim) { c.Spec.Taints = nil }},
		"drops-kubelets-of-node-claims": {from: func(c *v1.NodeClaim) {
			delete(c.Annotations, v1.KubeletCompatibilityAnnotationKey)
		}},
		"loses-the-image":  {from: func(c *v1.NodeClaim) { c.Status.ImageID = "" }},
		"hides-conditions": {to: func(c *v1beta1.NodeClaim) { c.Status.Conditions = nil }},
	}
}

func forgetLeastValues(of []v1.NodeSelectorRequirementWithMinValues) {
	for i := range of {
		of[i].MinValues = nil
	}
}

// after returns a duration as Karpenter's API has it.
func after(d time.Duration) v1.NillableDuration { return v1.NillableDuration{Duration: &d} }
