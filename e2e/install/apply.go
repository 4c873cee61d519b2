package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// fieldManager is the field manager of all applies and patches of this package.
const fieldManager = "plumbline"

// clients holds the clients of one API server.
type clients struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

// newClients returns clients without a rate limit, because an installation is a burst.
func newClients(config *rest.Config) (*clients, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &clients{typed: typed, dynamic: dyn}, nil
}

// platform returns the cluster's version and the APIs that it serves.
func (c *clients) platform() (platform, error) {
	version, err := c.typed.Discovery().ServerVersion()
	if err != nil {
		return platform{}, err
	}
	_, lists, err := c.typed.Discovery().ServerGroupsAndResources()
	if err != nil {
		return platform{}, err
	}
	on := platform{kubernetes: version.GitVersion}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return platform{}, err
		}
		for i := range list.APIResources {
			on.apis = append(on.apis, apiNames(group.WithKind(list.APIResources[i].Kind))...)
		}
	}
	slices.Sort(on.apis)
	on.apis = slices.Compact(on.apis)
	return on, nil
}

// establish applies CRDs and waits until the API server serves all of them.
func (c *clients) establish(ctx context.Context, crds []*unstructured.Unstructured) error {
	resource := c.dynamic.Resource(cluster.CRDs)
	missing := map[string]bool{}
	applying, within := errgroup.WithContext(ctx)
	for _, crd := range crds {
		missing[crd.GetName()] = true
		applying.Go(func() error {
			if _, err := resource.Apply(within, crd.GetName(), crd, applyOptions()); err != nil {
				return fmt.Errorf("applying the CRD %s: %w", crd.GetName(), err)
			}
			return nil
		})
	}
	if err := applying.Wait(); err != nil {
		return err
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return resource.Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, lw, &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok || !missing[o.GetName()] {
			return len(missing) == 0, nil
		}
		if names, _ := karpenter.Condition(o, "NamesAccepted"); names.Status == metav1.ConditionFalse {
			return false, fmt.Errorf("the CRD %s is refused: %s", o.GetName(), names.Message)
		}
		if karpenter.IsTrue(o, "Established") {
			delete(missing, o.GetName())
		}
		return len(missing) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%d of %d CRDs are not established yet: %w", len(missing),
			len(crds), err)
	}
	return nil
}

func applyOptions() metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
}

// applyAll applies the objects in order. Namespaced objects without a namespace go into the
// given one. Missing namespaces are created.
func (c *clients) applyAll(ctx context.Context, objects []*unstructured.Unstructured, namespace string) error {
	mapper := c.mapper()
	present := map[string]bool{}
	for _, o := range objects {
		resource, ns, err := Locate(mapper, o, namespace)
		if err == nil && ns != "" {
			err = c.ensureNamespace(ctx, ns, present)
		}
		if err == nil {
			_, err = c.dynamic.Resource(resource).Namespace(ns).Apply(ctx, o.GetName(), o, applyOptions())
		}
		if err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// mapper returns a mapper that asks the API server once.
func (c *clients) mapper() meta.RESTMapper {
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.typed.Discovery()))
}

// Locate returns an object's resource, and its namespace: the given one if it says none, and empty for a kind
// without namespaces. The error is the mapper's.
func Locate(mapper meta.RESTMapper, o *unstructured.Unstructured, namespace string) (
	resource schema.GroupVersionResource, in string, err error,
) {
	kind := o.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return resource, "", err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		in = cmp.Or(o.GetNamespace(), namespace)
	}
	return mapping.Resource, in, nil
}

// ensureNamespace creates a namespace if it is missing. Even a system namespace may be
// missing: it appears a moment after the API server is ready.
func (c *clients) ensureNamespace(ctx context.Context, name string, present map[string]bool) error {
	if present[name] {
		return nil
	}
	_, err := c.typed.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		cluster.Own(own)
		_, err = c.typed.CoreV1().Namespaces().Create(ctx, own, metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	present[name] = true
	return nil
}
