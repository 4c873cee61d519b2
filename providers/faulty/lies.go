package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/awslabs/operatorpkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// A lie breaks one promise. Usually one field is set; what is not set stays
// honest.
type lie struct {
	// cloud decorates KWOK's cloud provider, as core sees it. The client is
	// an honest one.
	cloud func(cloudprovider.CloudProvider, client.Client) cloudprovider.CloudProvider

	// instances decorates the client by which KWOK's cloud provider makes its
	// Nodes: they join as that client writes them.
	instances func(client.Client) client.Client

	// client decorates the client by which core's controllers, and its state
	// of the cluster, read and write.
	client func(client.Client) client.Client

	// controllers drops or wraps core's controllers.
	controllers func([]controller.Controller) []controller.Controller

	// sabotage runs beside an honest provider, over the API only, until the
	// context ends. An error ends the controller.
	sabotage func(ctx context.Context, c client.Client) error
}

// lies returns every lie by its name.
func lies() map[string]lie {
	all := map[string]lie{}
	for _, level := range levels() {
		maps.Copy(all, level)
	}
	return all
}

// levels returns the lies of each level; metadata of the same name lies in the
// folder lies.
func levels() map[string]map[string]lie {
	return map[string]map[string]lie{
		"cloud":    cloudLies(),
		"core":     coreLies(),
		"saboteur": saboteurLies(),
	}
}

// names returns the names of every lie, sorted.
func names() []string {
	return slices.Sorted(maps.Keys(lies()))
}

// find returns the lie of that name; no name is the honest provider.
func find(name string) (lie, error) {
	if name == "" {
		return lie{}, nil
	}
	l, ok := lies()[name]
	if !ok {
		return lie{}, fmt.Errorf("no lie is called %q; LIE is empty, for an honest provider, or one of:\n%s",
			name, strings.Join(names(), "\n"))
	}
	return l, nil
}
