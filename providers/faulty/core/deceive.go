package core

import (
	"context"
	"errors"
	"slices"

	"github.com/awslabs/operatorpkg/controller"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/karpenter/pkg/operator/injection"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// reads returns a lie that changes every object of a kind that the named controllers read. No
// names mean all controllers. It changes a copy, not the cache or the API server. A merge
// patch that a controller computes from this copy does not contain the change.
func reads[T client.Object](change func(T), by ...string) lie.Lie {
	return deceives(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption,
		) error {
			if err := c.Get(ctx, key, o, append(slices.Clone(opts), copied)...); err != nil {
				return err
			}
			retell(ctx, o, change, by)
			return nil
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := c.List(ctx, list, append(slices.Clone(opts), copied)...); err != nil {
				return err
			}
			return meta.EachListItem(list, func(o runtime.Object) error {
				retell(ctx, o, change, by)
				return nil
			})
		},
	})
}

// copied makes the cache return copies, which a lie may change.
const copied = client.UnsafeDisableDeepCopyOption(false)

// writes returns a lie that changes objects of a kind before the named controllers create or
// patch them. No names mean all controllers.
func writes[T client.Object](change func(T), by ...string) lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			retell(ctx, o, change, by)
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch,
			opts ...client.PatchOption,
		) error {
			retell(ctx, o, change, by)
			return c.Patch(ctx, o, patch, opts...)
		},
	})
}

// writesStatus returns a lie that changes objects of a kind before the named controllers patch their status. No names
// mean all controllers.
func writesStatus[T client.Object](change func(T), by ...string) lie.Lie {
	return deceives(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			if sub == "status" {
				retell(ctx, o, change, by)
			}
			return c.SubResource(sub).Patch(ctx, o, patch, opts...)
		},
	})
}

// retell changes an object if it is of kind T and one of the controllers handles it.
func retell[T client.Object](ctx context.Context, o runtime.Object, change func(T), by []string) {
	if t, ok := o.(T); ok && told(ctx, by...) {
		change(t)
	}
}

// told reports whether the context is of one of the named controllers. No names mean all.
func told(ctx context.Context, names ...string) bool {
	return len(names) == 0 || slices.Contains(names, injection.GetControllerName(ctx))
}

// deceives returns a lie that intercepts all of core's API calls with funcs.
func deceives(funcs interceptor.Funcs) lie.Lie {
	through := func(c client.Client) client.Client { return interceptor.NewClient(unwatched{c}, funcs) }
	return lie.Lie{
		Client: through,
		Controllers: func(all []controller.Controller) []controller.Controller {
			for i := range all {
				all[i] = deceived{all[i], through}
			}
			return all
		},
	}
}

// unwatched adds the Watch that the interceptor requires. Core never calls it.
type unwatched struct{ client.Client }

// Watch always fails.
func (unwatched) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, errors.New("watch is not supported: core watches through the manager's cache")
}

// deceived is a controller with a decorated manager client. The objects that it reconciles are
// fetched with that client, not with the one that it was created with.
type deceived struct {
	controller.Controller
	through func(client.Client) client.Client
}

// Register registers the controller with the decorated manager.
func (d deceived) Register(ctx context.Context, m manager.Manager) error {
	return d.Controller.Register(ctx, managing{m, fetching{d.through(m.GetClient()), nameOf(d.Controller)}})
}

// managing is a manager with another client.
type managing struct {
	manager.Manager
	client client.Client
}

// GetClient returns the other client.
func (m managing) GetClient() client.Client { return m.client }

// fetching is a client that sets the controller's name for Get. Core itself sets it only after
// the object is fetched.
type fetching struct {
	client.Client
	controller string
}

// Get fetches an object for the controller.
func (f fetching) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return f.Client.Get(injection.WithControllerName(ctx, f.controller), key, o, opts...)
}

// leavesOut returns a lie that removes a controller.
func leavesOut(name string) lie.Lie {
	return lie.Lie{Controllers: func(all []controller.Controller) []controller.Controller {
		return slices.DeleteFunc(all, func(c controller.Controller) bool { return nameOf(c) == name })
	}}
}

// nameOf returns a controller's name, or "" if it has none.
func nameOf(c controller.Controller) string {
	if named, ok := c.(interface{ Name() string }); ok {
		return named.Name()
	}
	return ""
}
