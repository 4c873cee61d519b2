package lie

import (
	"context"
	"maps"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// All returns the lie that tells several at a time. A later one decorates what an earlier one has decorated.
func All(lies ...Lie) (all Lie) {
	all.Settings = map[string]string{}
	for _, l := range lies {
		all = Lie{
			Cloud:       all.clouds(l),
			Instances:   then(all.Instances, l.Instances),
			Client:      then(all.Client, l.Client),
			Controllers: then(all.Controllers, l.Controllers),
			Settings:    all.Settings,
			CRD:         also(all.CRD, l.CRD),
			NodeClass:   also(all.NodeClass, l.NodeClass),
			Sabotage:    all.sabotages(l),
		}
		maps.Copy(all.Settings, l.Settings)
	}
	return all
}

func (l Lie) clouds(next Lie) func(cloudprovider.CloudProvider, client.Client) cloudprovider.CloudProvider {
	switch {
	case l.Cloud == nil:
		return next.Cloud
	case next.Cloud == nil:
		return l.Cloud
	}
	return func(p cloudprovider.CloudProvider, c client.Client) cloudprovider.CloudProvider {
		return next.Cloud(l.Cloud(p, c), c)
	}
}

func (l Lie) sabotages(next Lie) func(context.Context, client.Client) error {
	switch {
	case l.Sabotage == nil:
		return next.Sabotage
	case next.Sabotage == nil:
		return l.Sabotage
	}
	return func(ctx context.Context, c client.Client) error {
		group, within := errgroup.WithContext(ctx)
		group.Go(func() error { return l.Sabotage(within, c) })
		group.Go(func() error { return next.Sabotage(within, c) })
		return group.Wait()
	}
}

// then decorates what was decorated. Either function may be nil.
func then[T any](first, next func(T) T) func(T) T {
	switch {
	case first == nil:
		return next
	case next == nil:
		return first
	}
	return func(x T) T { return next(first(x)) }
}

// also edits what was edited. Either function may be nil.
func also[T any](first, next func(T)) func(T) {
	switch {
	case first == nil:
		return next
	case next == nil:
		return first
	}
	return func(x T) {
		first(x)
		next(x)
	}
}
