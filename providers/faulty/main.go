// Command faulty is Karpenter's KWOK provider with a broken promise: the lie that the
// environment variable LIE names, or several, separated by commas. Without LIE it is honest.
// With -list it prints the names of the lies.
package main

import (
	"context"
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
	"github.com/plumbline-e2e/plumbline/providers/faulty/schema"
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

// run runs the provider with the named lies until its manager ends.
func run(list string) error {
	l, err := find(list)
	if err != nil {
		return err
	}
	if l.CRD != nil {
		if err := ship(l.CRD); err != nil {
			return err
		}
	}
	for key, value := range l.Settings {
		if err := os.Setenv(key, value); err != nil {
			return fmt.Errorf("changing the setting %s: %w", key, err)
		}
	}
	ctx, op := operator.NewOperator()
	provider, err := l.CloudProvider(ctx, op.GetClient())
	if err != nil {
		return err
	}
	if err := op.Add(beside{run: l.TendNodeClasses, client: op.GetClient()}); err != nil {
		return fmt.Errorf("adding what looks after NodeClasses: %w", err)
	}
	if l.Sabotage != nil {
		if err := op.Add(beside{run: l.Sabotage, client: op.GetClient()}); err != nil {
			return fmt.Errorf("adding the sabotage of %s: %w", list, err)
		}
	}
	return start(ctx, op, provider, l)
}

// ship rewrites the CRDs before anything reads them.
func ship(rewrite func(lie.CRD)) error {
	direct, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	return schema.Ship(context.Background(), direct, rewrite)
}

// start runs core with the cloud provider until its manager ends.
func start(ctx context.Context, op *operator.Operator, provider cloudprovider.CloudProvider, l lie.Lie) error {
	c := op.GetClient()
	if l.Client != nil {
		c = l.Client(c)
	}
	overlaid := overlay.Decorate(provider, c, op.InstanceTypeStore)
	repairs, err := health.NewRepairPolicyMatcher(ctx, overlaid)
	if err != nil {
		return fmt.Errorf("reading the repair policies: %w", err)
	}
	cluster := state.NewCluster(op.Clock, c, overlaid, state.WithRepairPolicyMatcher(repairs))
	all := controllers.NewControllers(ctx, op.Manager, op.Clock, c, op.EventRecorder, overlaid, provider, cluster,
		op.InstanceTypeStore, op.PredictionStore)
	if l.Controllers != nil {
		all = l.Controllers(all)
	}
	op.WithControllers(ctx, all...).Start(ctx)
	return nil
}

// beside runs something beside core's controllers, with or without leader election.
type beside struct {
	run    func(context.Context, client.Client) error
	client client.Client
}

var _ interface {
	manager.Runnable
	manager.LeaderElectionRunnable
} = beside{}

// Start runs it until the context ends.
func (s beside) Start(ctx context.Context) error { return s.run(ctx, s.client) }

// NeedLeaderElection returns false: it does not wait for leader election.
func (beside) NeedLeaderElection() bool { return false }
