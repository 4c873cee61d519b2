// Package lie says what a lie is: a promise that a provider breaks.
package lie

import (
	"context"
	"fmt"

	"github.com/awslabs/operatorpkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// CRD is a CustomResourceDefinition as data.
type CRD = map[string]any

// A Lie breaks one promise. Usually one field is set; what is not set stays
// honest.
type Lie struct {
	// Cloud decorates KWOK's cloud provider, as core sees it. The client is
	// an honest one.
	Cloud func(cloudprovider.CloudProvider, client.Client) cloudprovider.CloudProvider

	// Instances decorates the client by which KWOK's cloud provider makes its
	// Nodes: they join as that client writes them.
	Instances func(client.Client) client.Client

	// Client decorates the client by which core's controllers, and its state
	// of the cluster, read and write.
	Client func(client.Client) client.Client

	// Controllers drops or wraps core's controllers.
	Controllers func([]controller.Controller) []controller.Controller

	// Settings are environment variables that core is set up by; their values here
	// replace those of the chart.
	Settings map[string]string

	// CRD rewrites the CRDs of NodePools and of NodeClaims before the controller
	// starts, as if they had been shipped so.
	CRD func(CRD)

	// Sabotage runs beside an honest provider, over the API only, until the
	// context ends. An error ends the controller.
	Sabotage func(ctx context.Context, c client.Client) error
}

// CloudProvider returns KWOK's cloud provider, made over the lie's instances
// and decorated by its cloud.
func (l Lie) CloudProvider(ctx context.Context, honest client.Client) (cloudprovider.CloudProvider, error) {
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading KWOK's instance types: %w", err)
	}
	instances := honest
	if l.Instances != nil {
		instances = l.Instances(honest)
	}
	var provider cloudprovider.CloudProvider = kwok.NewCloudProvider(ctx, instances, types)
	if l.Cloud != nil {
		provider = l.Cloud(provider, honest)
	}
	return provider, nil
}
