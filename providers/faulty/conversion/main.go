// Command conversion is Karpenter's KWOK provider v1.0.8 with one mistake in what it does about v1beta1:
// the lie that the environment variable LIE names. Without LIE it is honest. With -list it prints the
// names of the lies.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	knative "knative.dev/pkg/injection"
	"knative.dev/pkg/webhook/certificates"
	"knative.dev/pkg/webhook/resourcesemantics/conversion"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/operator"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/webhooks"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-list" {
		fmt.Fprintln(os.Stdout, strings.Join(names(), "\n"))
		return
	}
	if err := run(os.Getenv("LIE")); err != nil {
		fmt.Fprintln(os.Stderr, "conversion:", err)
		os.Exit(1)
	}
}

// names returns the sorted names of all lies.
func names() []string { return slices.Sorted(maps.Keys(lies())) }

// run runs the provider with the named lie until its manager ends. It is assembled as KWOK's own main
// does.
func run(name string) error {
	l, known := lies()[name]
	if !known && name != "" {
		return fmt.Errorf("there is no lie %q; there are %s", name, strings.Join(names(), ", "))
	}
	types, err := kwok.ConstructInstanceTypes()
	if err != nil {
		return fmt.Errorf("reading KWOK's instance types: %w", err)
	}
	ctx, op := operator.NewOperator()
	if err := l.ship(ctx, op.GetConfig()); err != nil {
		return err
	}
	if err := l.runBeside(op.Manager); err != nil {
		return err
	}
	provider := kwok.NewCloudProvider(ctx, op.GetClient(), types)
	all := controllers.NewControllers(ctx, op.Manager, op.Clock, deceived{op.GetClient(), l}, op.EventRecorder, provider)
	if l.drops != nil {
		all = slices.DeleteFunc(all, l.drops)
	}
	op.WithWebhooks(ctx, certificates.NewController, l.webhook).WithControllers(ctx, all...).Start(ctx, provider)
	return nil
}

// webhook returns the controller of the conversion webhook. It is Karpenter's own, but for what is
// converted from and to v1.
func (l lie) webhook(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	classes, client := injection.GetNodeClasses(ctx), injection.GetClient(ctx)
	kinds := maps.Clone(webhooks.ConversionResource)
	for kind, k := range kinds {
		k.Zygotes = maps.Clone(k.Zygotes)
		switch kind.Kind {
		case "NodePool":
			k.Zygotes[k.HubVersion] = &pool{lie: l}
		case "NodeClaim":
			k.Zygotes[k.HubVersion] = &nodeClaim{lie: l}
		}
		kinds[kind] = k
	}
	return conversion.NewConversionController(ctx, "/conversion/karpenter.sh", kinds,
		func(ctx context.Context) context.Context {
			return injection.WithClient(injection.WithNodeClasses(ctx, classes), client)
		})
}

var _ knative.ControllerConstructor = lie{}.webhook
