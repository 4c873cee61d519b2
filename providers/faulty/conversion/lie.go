package main

import (
	"context"

	"github.com/awslabs/operatorpkg/controller"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1beta1"
)

// A lie is a mistake of a release that serves both versions. Usually one function is set. What is not set
// stays honest.
type lie struct {
	// What Karpenter has converted is changed.
	poolFrom func(*v1.NodePool)       // converted from v1beta1
	poolTo   func(*v1beta1.NodePool)  // converted to v1beta1
	from     func(*v1.NodeClaim)      // converted from v1beta1
	to       func(*v1beta1.NodeClaim) // converted to v1beta1

	// crd rewrites the CRDs before the controllers start.
	crd func(*unstructured.Unstructured)

	// create changes what core's controllers create, and list what they have listed.
	create func(client.Object)
	list   func(client.ObjectList)

	// drops says which of core's controllers are missing.
	drops func(controller.Controller) bool

	// beside is called again and again beside core's controllers. Each lie has its own memory.
	beside func() func(context.Context, client.Client) error
}

// deceived is the client of core's controllers.
type deceived struct {
	client.Client

	lie lie
}

// Create creates an object, after the lie.
func (d deceived) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if d.lie.create != nil {
		d.lie.create(o)
	}
	return d.Client.Create(ctx, o, opts...)
}

// List lists objects, before the lie.
func (d deceived) List(ctx context.Context, all client.ObjectList, opts ...client.ListOption) error {
	err := d.Client.List(ctx, all, opts...)
	if err == nil && d.lie.list != nil {
		d.lie.list(all)
	}
	return err
}
