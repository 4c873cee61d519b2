package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/rights"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// always are the kinds of every recording.
var always = []schema.GroupVersionResource{
	karpenter.NodePools, karpenter.NodeClaims, karpenter.Nodes, karpenter.Pods, karpenter.PodDisruptionBudgets,
	karpenter.Events,
}

// ifServed are the kinds that not every release of Karpenter has.
var ifServed = []schema.GroupVersionResource{karpenter.NodeOverlays, karpenter.CapacityBuffers}

// errNoKarpenter is the error for a cluster that serves no NodePools.
var errNoKarpenter = errors.New("the cluster serves no NodePools of " + karpenter.NodePools.GroupVersion().String() +
	": the CRDs of Karpenter v1.0 or later are missing there")

// kindsOf returns the kinds to record that a cluster serves. NodeClasses are the kinds whose name ends so, as it
// does for every known provider.
func kindsOf(client discovery.DiscoveryInterface) ([]schema.GroupVersionResource, error) {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // else some other API is down
		return nil, fmt.Errorf("asking what the cluster serves: %w", err)
	}
	served := map[schema.GroupVersionResource]bool{}
	nodeClasses := map[schema.GroupResource]string{} // their versions
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("asking what the cluster serves: %w", err)
		}
		for _, r := range list.APIResources {
			served[gv.WithResource(r.Name)] = true
			resource := schema.GroupResource{Group: gv.Group, Resource: r.Name}
			if strings.HasSuffix(r.Kind, "NodeClass") && slices.Contains(r.Verbs, "watch") && nodeClasses[resource] == "" {
				nodeClasses[resource] = gv.Version // the preferred one comes first
			}
		}
	}
	if !served[karpenter.NodePools] {
		return nil, errNoKarpenter
	}
	kinds := slices.Clone(always)
	for _, kind := range ifServed {
		if served[kind] {
			kinds = append(kinds, kind)
		}
	}
	for resource, version := range nodeClasses {
		kinds = append(kinds, resource.WithVersion(version))
	}
	slices.SortFunc(kinds[len(always):], func(a, b schema.GroupVersionResource) int {
		return strings.Compare(a.String(), b.String())
	})
	return kinds, nil
}

// needed returns the rights that a recording needs.
func needed(kinds []schema.GroupVersionResource, redact bool) []rights.Right {
	byGroup := map[string][]string{}
	var groups []string
	for _, kind := range kinds {
		if byGroup[kind.Group] == nil {
			groups = append(groups, kind.Group)
		}
		byGroup[kind.Group] = append(byGroup[kind.Group], kind.Resource)
	}
	slices.Sort(groups)
	var all []rights.Right
	for _, group := range groups {
		slices.Sort(byGroup[group])
		all = append(all, rights.Right{Verbs: "list watch", Group: group, Resources: strings.Join(byGroup[group], " ")})
	}
	if redact {
		all = append(all, rights.Right{Verbs: "get", Resources: "namespaces", Name: systemNamespace})
	}
	return all
}
