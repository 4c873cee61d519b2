// Package lie defines a lie: one promise that a provider breaks.
package lie

import (
	"context"
	"fmt"

	"github.com/awslabs/operatorpkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// CRD is a CustomResourceDefinition as data.
type CRD = map[string]any

// A Lie breaks one promise. Usually one field is set. A field that is not set stays honest.
type Lie struct {
	// Cloud decorates KWOK's cloud provider for core. Its client is honest.
	Cloud func(cloudprovider.CloudProvider, client.Client) cloudprovider.CloudProvider

	// Instances decorates the client with which KWOK's cloud provider creates its Nodes.
	Instances func(client.Client) client.Client

	// Client decorates the client of core's controllers and of its cluster state.
	Client func(client.Client) client.Client

	// Controllers drops or wraps core's controllers.
	Controllers func([]controller.Controller) []controller.Controller

	// Settings are environment variables that configure core. They override the chart's.
	Settings map[string]string

	// CRD rewrites the CRDs of NodePools and NodeClaims before the controller starts.
	CRD func(CRD)

	// NodeClass edits what is written of a NodeClass: its annotations and its status.
	NodeClass func(*kwokv1alpha1.KWOKNodeClass)

	// Sabotage runs beside an honest provider and uses the API only. It runs until the
	// context ends. An error ends the controller.
	Sabotage func(ctx context.Context, c client.Client) error
}

// CloudProvider returns KWOK's cloud provider with the lie's Instances and Cloud applied.
func (l Lie) CloudProvider(ctx context.Context, honest client.Client) (cloudprovider.CloudProvider, error) {
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading KWOK's instance types: %w", err)
	}
	instances := honest
	if l.Instances != nil {
		instances = l.Instances(honest)
	}
	unlimited := kwok.NewCloudProvider(ctx, instances, types)
	var provider cloudprovider.CloudProvider = describing{withCapacity(unlimited, honest), honest}
	if l.Cloud != nil {
		provider = l.Cloud(provider, honest)
	}
	return provider, nil
}
