package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"knative.dev/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1beta1"
)

// pool is a NodePool that is converted with a lie.
type pool struct {
	v1.NodePool

	lie lie
}

// DeepCopyObject returns a copy that tells the same lie.
func (p *pool) DeepCopyObject() runtime.Object {
	return &pool{NodePool: *p.DeepCopy(), lie: p.lie}
}

// ConvertFrom makes it what a v1beta1 NodePool says.
func (p *pool) ConvertFrom(ctx context.Context, from apis.Convertible) error {
	if err := p.NodePool.ConvertFrom(ctx, from); err != nil {
		return fmt.Errorf("honestly: %w", err)
	}
	if p.lie.poolFrom != nil {
		p.lie.poolFrom(&p.NodePool)
	}
	return nil
}

// ConvertTo makes a v1beta1 NodePool say what it says.
func (p *pool) ConvertTo(ctx context.Context, to apis.Convertible) error {
	if err := p.NodePool.ConvertTo(ctx, to); err != nil {
		return fmt.Errorf("honestly: %w", err)
	}
	if old, ok := to.(*v1beta1.NodePool); ok && p.lie.poolTo != nil {
		p.lie.poolTo(old)
	}
	return nil
}

// nodeClaim is a NodeClaim that is converted with a lie.
type nodeClaim struct {
	v1.NodeClaim

	lie lie
}

// DeepCopyObject returns a copy that tells the same lie.
func (c *nodeClaim) DeepCopyObject() runtime.Object {
	return &nodeClaim{NodeClaim: *c.DeepCopy(), lie: c.lie}
}

// ConvertFrom makes it what a v1beta1 NodeClaim says.
func (c *nodeClaim) ConvertFrom(ctx context.Context, from apis.Convertible) error {
	if err := c.NodeClaim.ConvertFrom(ctx, from); err != nil {
		return fmt.Errorf("honestly: %w", err)
	}
	if c.lie.from != nil {
		c.lie.from(&c.NodeClaim)
	}
	return nil
}

// ConvertTo makes a v1beta1 NodeClaim say what it says.
func (c *nodeClaim) ConvertTo(ctx context.Context, to apis.Convertible) error {
	if err := c.NodeClaim.ConvertTo(ctx, to); err != nil {
		return fmt.Errorf("honestly: %w", err)
	}
	if old, ok := to.(*v1beta1.NodeClaim); ok && c.lie.to != nil {
		c.lie.to(old)
	}
	return nil
}
