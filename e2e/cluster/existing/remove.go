package existing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/e2e-framework/klient/k8s"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// The provider gets providerWithin to end what it has launched. All else then gets goneWithin.
const (
	providerWithin = 20 * time.Second
	goneWithin     = 40 * time.Second
)

// Reap removes what dead runs have left on the cluster. It returns the cluster's name if there
// was anything. It returns an error if a run is in progress there.
func Reap(ctx context.Context, kubeconfig string) (removed []string, err error) {
	c, err := connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.otherRun(ctx)...); err != nil {
		return nil, err
	}
	left, err := c.leftovers(ctx)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	e := &existing{clients: c, release: func() {}, stop: func() {}}
	return []string{c.config.Host}, e.Close(ctx)
}

// remove removes everything that the harness owns, and returns when it is gone.
func (e *existing) remove(ctx context.Context) error {
	err := e.removeCustomObjects(ctx)
	err = errors.Join(err, e.removeNodes(ctx, e.seen.UnsortedList()...))
	e.release() // before the lease's namespace is removed
	var left []located
	waited := wait.PollUntilContextTimeout(ctx, poll, goneWithin, true, func(ctx context.Context) (bool, error) {
		var err error
		if left, err = e.leftovers(ctx); err != nil {
			return false, err
		}
		for _, o := range left {
			err = errors.Join(err, e.delete(ctx, o))
		}
		return len(left) == 0, err
	})
	if wait.Interrupted(waited) {
		var names []string
		for _, o := range left {
			names = append(names, o.String())
		}
		waited = fmt.Errorf("not gone within %s: %s", goneWithin, strings.Join(names, ", "))
	}
	if err = errors.Join(err, waited); err != nil {
		return fmt.Errorf("removing what is ours from %s (`make clean-existing` tries again): %w", e.config.Host, err)
	}
	return nil
}

// located is an object with its REST mapping.
type located struct {
	*unstructured.Unstructured
	mapping *meta.RESTMapping
}

func (o located) String() string {
	words := o.GetKind() + " " + o.GetName()
	if o.GetNamespace() != "" {
		words += " in namespace " + o.GetNamespace()
	}
	return words
}

// leftovers lists everything that carries the OwnerLabel.
func (c *clients) leftovers(ctx context.Context) ([]located, error) {
	// An API group that can't be discovered belongs to others.
	lists, err := c.typed.Discovery().ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	var all []located
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") {
				continue
			}
			mapping := &meta.RESTMapping{
				Resource: group.WithResource(r.Name), GroupVersionKind: group.WithKind(r.Kind),
				Scope: scope(r.Namespaced),
			}
			found, err := c.list(ctx, mapping, metav1.ListOptions{LabelSelector: cluster.OwnerLabel})
			if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
				continue // gone with its CRD, or nothing that the harness could have made
			}
			if err != nil {
				return nil, fmt.Errorf("listing %s: %w", r.Name, err)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// list lists objects of a kind in all namespaces.
func (c *clients) list(ctx context.Context, m *meta.RESTMapping, o metav1.ListOptions) ([]located, error) {
	found, err := c.dynamic.Resource(m.Resource).List(ctx, o)
	if err != nil {
		return nil, err
	}
	all := make([]located, len(found.Items))
	for i := range found.Items {
		all[i] = located{&found.Items[i], m}
	}
	return all, nil
}

func scope(namespaced bool) meta.RESTScope {
	if namespaced {
		return meta.RESTScopeNamespace
	}
	return meta.RESTScopeRoot
}

// resource returns the client for objects of a kind in a namespace.
func (c *clients) resource(m *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.dynamic.Resource(m.Resource).Namespace(namespace)
	}
	return c.dynamic.Resource(m.Resource)
}

func (c *clients) mapper() (meta.RESTMapper, error) {
	groups, err := restmapper.GetAPIGroupResources(c.typed.Discovery())
	if err != nil {
		return nil, err
	}
	return restmapper.NewDiscoveryRESTMapper(groups), nil
}

// delete deletes an object that isn't being deleted yet.
func (c *clients) delete(ctx context.Context, o located) error {
	if o.GetDeletionTimestamp() != nil {
		return nil
	}
	background := metav1.DeletePropagationBackground
	err := c.resource(o.mapping, o.GetNamespace()).
		Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// removeCustomObjects removes all objects of the harness's CRDs, whoever made them. The
// provider gets some time to end them; then their finalizers are removed.
func (c *clients) removeCustomObjects(ctx context.Context) error {
	crds, err := c.dynamic.Resource(cluster.CRDs).List(ctx, metav1.ListOptions{LabelSelector: cluster.OwnerLabel})
	if err != nil {
		return err
	}
	mapper, err := c.mapper()
	if err != nil {
		return err
	}
	var mappings []*meta.RESTMapping
	for _, crd := range crds.Items {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind})
		if meta.IsNoMatchError(err) {
			continue // it isn't served, so it has no objects
		}
		if err != nil {
			return err
		}
		mappings = append(mappings, mapping)
	}
	return c.deleteAll(ctx, providerWithin, func(ctx context.Context) (all []located, err error) {
		for _, mapping := range mappings {
			found, err := c.list(ctx, mapping, metav1.ListOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	})
}

// removeNodes removes the fake nodes. It also removes the pods that other users' DaemonSets
// have put on them or on the gone nodes; these pods would otherwise stay for a minute.
func (c *clients) removeNodes(ctx context.Context, gone ...string) error {
	nodes := &meta.RESTMapping{
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"},
		Scope:    meta.RESTScopeRoot,
	}
	pods := &meta.RESTMapping{
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
		Scope:    meta.RESTScopeNamespace,
	}
	fake := sets.New(gone...)
	err := c.deleteAll(ctx, providerWithin, func(ctx context.Context) ([]located, error) {
		all, err := c.list(ctx, nodes, metav1.ListOptions{})
		all = slices.DeleteFunc(all, func(node located) bool { _, is := node.GetAnnotations()[fakeNode]; return !is })
		for _, node := range all {
			fake.Insert(node.GetName())
		}
		return all, err
	})
	if err != nil || len(fake) == 0 {
		return err
	}
	return c.deleteAll(ctx, 0, func(ctx context.Context) (all []located, err error) {
		found, err := c.list(ctx, pods, metav1.ListOptions{})
		for _, o := range found {
			var pod corev1.Pod
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(nodesOf(&pod), fake.Has) {
				all = append(all, o)
			}
		}
		return all, err
	})
}

// nodesOf returns the node that a pod is bound to, and those in its affinity, as of a
// DaemonSet.
func nodesOf(pod *corev1.Pod) []string {
	nodes := []string{pod.Spec.NodeName}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil &&
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, field := range term.MatchFields {
				if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn {
					nodes = append(nodes, field.Values...)
				}
			}
		}
	}
	return nodes
}

// deleteAll deletes the listed objects until none is left. After some time it removes their
// finalizers and grants no grace period.
func (c *clients) deleteAll(ctx context.Context, within time.Duration,
	list func(context.Context) ([]located, error),
) error {
	sweep := func(how func(context.Context, located) error) wait.ConditionWithContextFunc {
		return func(ctx context.Context) (bool, error) {
			all, err := list(ctx)
			for _, o := range all {
				err = errors.Join(err, how(ctx, o))
			}
			return len(all) == 0, err
		}
	}
	if within > 0 {
		err := wait.PollUntilContextTimeout(ctx, poll, within, true, sweep(c.delete))
		if err == nil || !wait.Interrupted(err) || ctx.Err() != nil {
			return err
		}
	}
	return wait.PollUntilContextTimeout(ctx, poll, goneWithin, true, sweep(c.forceDelete))
}

// forceDelete deletes an object without grace period, and removes its finalizers.
func (c *clients) forceDelete(ctx context.Context, o located) error {
	at := c.resource(o.mapping, o.GetNamespace())
	err := at.Delete(ctx, o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	if err == nil && len(o.GetFinalizers()) > 0 {
		_, err = at.Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unstructuredOf converts typed objects, which must have their kinds set.
func unstructuredOf(objects []k8s.Object) ([]*unstructured.Unstructured, error) {
	all := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return nil, err
		}
		all[i] = &unstructured.Unstructured{Object: content}
	}
	return all, nil
}
