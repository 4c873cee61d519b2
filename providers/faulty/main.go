// Command faulty is Karpenter's KWOK provider, broken in the one promise that
// the environment variable LIE names; unset, it is honest. A suite that passes
// on it while it lies has missed something.
//
// With -list it prints the names of its lies.
package main

import (
	"context"
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-list" {
		for _, name := range names() {
			fmt.Fprintln(os.Stdout, name)
		}
		return
	}
	if err := run(os.Getenv("LIE")); err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		os.Exit(1)
	}
}

// run runs the provider with that lie until its manager ends.
func run(name string) error {
	l, err := find(name)
	if err != nil {
		return err
	}
	ctx, op := operator.NewOperator()
	cloud, err := l.cloudProvider(ctx, op.GetClient())
	if err != nil {
		return err
	}
	if l.sabotage != nil {
		if err := op.Add(saboteur{run: l.sabotage, client: op.GetClient()}); err != nil {
			return fmt.Errorf("adding the sabotage of %s: %w", name, err)
		}
	}
	return l.start(ctx, op, cloud)
}

// cloudProvider returns KWOK's cloud provider, made over the lie's instances
// and decorated by its cloud.
func (l lie) cloudProvider(ctx context.Context, honest client.Client) (cloudprovider.CloudProvider, error) {
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading KWOK's instance types: %w", err)
	}
	instances := honest
	if l.instances != nil {
		instances = l.instances(honest)
	}
	var cloud cloudprovider.CloudProvider = kwok.NewCloudProvider(ctx, instances, types)
	if l.cloud != nil {
		cloud = l.cloud(cloud, honest)
	}
	return cloud, nil
}

// start runs core over the cloud provider until its manager ends.
func (l lie) start(ctx context.Context, op *operator.Operator, cloud cloudprovider.CloudProvider) error {
	c := op.GetClient()
	if l.client != nil {
		c = l.client(c)
	}
	overlaid := overlay.Decorate(cloud, c, op.InstanceTypeStore)
	repairs, err := health.NewRepairPolicyMatcher(ctx, overlaid)
	if err != nil {
		return fmt.Errorf("reading the repair policies: %w", err)
	}
	cluster := state.NewCluster(op.Clock, c, overlaid, state.WithRepairPolicyMatcher(repairs))
	all := controllers.NewControllers(ctx, op.Manager, op.Clock, c, op.EventRecorder, overlaid, cloud, cluster,
		op.InstanceTypeStore, op.PredictionStore)
	if l.controllers != nil {
		all = l.controllers(all)
	}
	op.WithControllers(ctx, all...).Start(ctx)
	return nil
}

// A saboteur runs a lie's sabotage as a part of the manager, whether it leads
// or not.
type saboteur struct {
	run    func(context.Context, client.Client) error
	client client.Client
}

var _ interface {
	manager.Runnable
	manager.LeaderElectionRunnable
} = saboteur{}

// Start runs the sabotage until the context ends.
func (s saboteur) Start(ctx context.Context) error { return s.run(ctx, s.client) }

// NeedLeaderElection says that sabotage waits for no election.
func (saboteur) NeedLeaderElection() bool { return false }
