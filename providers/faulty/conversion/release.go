package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// often is how often a lie beside the controllers looks. A drain, which it must be ahead of, takes longer.
const often = 20 * time.Millisecond

// crds is the kind of a list of CRDs.
var crds = schema.GroupVersionKind{
	Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList",
}

// ship rewrites Karpenter's CRDs. It lists them, since the chart lets the controller list and update CRDs
// and not get them.
func (l lie) ship(ctx context.Context, config *rest.Config) error {
	if l.crd == nil {
		return nil
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(crds)
	if err := c.List(ctx, all); err != nil {
		return fmt.Errorf("listing the CRDs: %w", err)
	}
	for i := range all.Items {
		crd := &all.Items[i]
		if group, _, _ := unstructured.NestedString(crd.Object, "spec", "group"); group != "karpenter.sh" {
			continue
		}
		l.crd(crd)
		if err := c.Update(ctx, crd); err != nil {
			return fmt.Errorf("rewriting the CRD %s: %w", crd.GetName(), err)
		}
	}
	return nil
}

// runBeside runs the lie beside the controllers, if it is such a one.
func (l lie) runBeside(m manager.Manager) error {
	if l.beside == nil {
		return nil
	}
	look, c := l.beside(), m.GetClient()
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			if err := look(ctx, c); client.IgnoreNotFound(err) != nil {
				log.FromContext(ctx).Error(err, "the lie is tried again")
			}
		}, often)
		return nil
	}))
}
