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

// reads returns the lie that the named controllers, or all if none is named, see
// every object of that kind with a change. The change is made to a copy: neither
// the cache nor the API server knows of it, and a merge patch that a controller
// makes of what it read leaves out what was changed before.
func reads[T client.Object](change func(T), by ...string) lie.Lie {
	return deceives(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
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

// copied asks for copies of what is in the cache, which a lie may change.
const copied = client.UnsafeDisableDeepCopyOption(false)

// writes returns the lie that objects of that kind are changed before the named
// controllers, or all if none is named, create or patch them.
func writes[T client.Object](change func(T), by ...string) lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			retell(ctx, o, change, by)
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			retell(ctx, o, change, by)
			return c.Patch(ctx, o, patch, opts...)
		},
	})
}

// retell changes an object if it is of that kind and for one of those controllers.
func retell[T client.Object](ctx context.Context, o runtime.Object, change func(T), by []string) {
	if t, ok := o.(T); ok && told(ctx, by...) {
		change(t)
	}
}

// told says whether one of the named controllers is at work; no names are all.
func told(ctx context.Context, names ...string) bool {
	return len(names) == 0 || slices.Contains(names, injection.GetControllerName(ctx))
}

// deceives returns the lie that all of core speaks to the API server through
// these functions.
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

// unwatched lets a client be intercepted that can't watch. Core never asks it to.
type unwatched struct{ client.Client }

// Watch fails.
func (unwatched) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, errors.New("core watches by the manager's cache, not by its client")
}

// deceived is a controller whose objects are fetched through a decorated client:
// those come from the client of the manager, not from the one that the
// controller was made with.
type deceived struct {
	controller.Controller
	through func(client.Client) client.Client
}

// Register registers the controller with a manager whose client is decorated.
func (d deceived) Register(ctx context.Context, m manager.Manager) error {
	return d.Controller.Register(ctx, managing{m, fetching{d.through(m.GetClient()), nameOf(d.Controller)}})
}

// managing is a manager with a client of its own.
type managing struct {
	manager.Manager
	client client.Client
}

// GetClient returns that client.
func (m managing) GetClient() client.Client { return m.client }

// fetching says for which controller an object is fetched, as core does as soon
// as the controller has it.
type fetching struct {
	client.Client
	controller string
}

// Get fetches an object in the controller's name.
func (f fetching) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return f.Client.Get(injection.WithControllerName(ctx, f.controller), key, o, opts...)
}

// leavesOut returns the lie that there is no such controller.
func leavesOut(name string) lie.Lie {
	return lie.Lie{Controllers: func(all []controller.Controller) []controller.Controller {
		return slices.DeleteFunc(all, func(c controller.Controller) bool { return nameOf(c) == name })
	}}
}

// nameOf returns what a controller calls itself; empty if it has no name.
func nameOf(c controller.Controller) string {
	if named, ok := c.(interface{ Name() string }); ok {
		return named.Name()
	}
	return ""
}
