package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/placement"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Setup holds the wanted cluster and the provider on it.
type Setup struct {
	Backend cluster.Backend
	Cluster cluster.Options // common to all clusters
	// Adapter is the provider's. Nil: a cluster without a provider and without KWOK.
	Adapter  *providers.Adapter
	Release  string      // of the provider's source module; empty: the adapter's
	Image    string      // of the provider; empty: the adapter's
	To       *Target     // what specs upgrade the provider to; nil: nothing
	Speed    clock.Speed // of the cluster's clock
	Tried    bool        // another process has tried whether clocks can be bent here
	Progress func(string)
}

// Target is a release that specs upgrade the provider to.
type Target struct {
	Adapter *providers.Adapter // of the same provider
	Release string             // of its source module; empty: the adapter's
	Image   string             // empty: the adapter's
}

// Plan is a session that is ready to start: all that needs no cluster is checked, and all is
// built.
type Plan struct {
	Setup Setup
	Cache *build.Cache
	Leaps bool // see cluster.Options

	prepared *install.Prepared // nil: without a provider
	to       *install.Prepared // nil: without Setup.To
	shapes   *placement.Shapes // that sessions have seen
}

// Learn adds the instance types that a recording shows to those that sessions have seen.
func (p *Plan) Learn(recording string) error {
	h, err := history.LoadFile(recording)
	if err == nil {
		p.shapes.Learn(h)
	}
	return err
}

// Prepare builds the backend's and the provider's programs, or finds them in the cache.
func Prepare(ctx context.Context, s Setup) (*Plan, error) {
	guest := s.Backend.Guest
	if s.Adapter == nil && guest != nil {
		return nil, fmt.Errorf("CLUSTER=%s: that cluster is there already", s.Backend.Name)
	}
	cache, err := build.Open(s.Progress)
	if err != nil {
		return nil, err
	}
	p := &Plan{Setup: s, Cache: cache, shapes: &placement.Shapes{}}
	if s.Adapter != nil {
		// The provider comes first: most mistakes are there, and a control plane takes minutes
		// to build.
		if err := p.prepareProvider(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.Backend.Prepare(ctx, cache, s.Cluster); err != nil {
		return nil, err
	}
	if guest != nil {
		objects, err := p.prepared.Objects(ctx)
		if err == nil {
			err = guest.Try(ctx, s.Cluster.Kubeconfig, objects)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, p.prepareClock(ctx)
}

// prepareProvider checks that the provider can be installed.
func (p *Plan) prepareProvider(ctx context.Context) error {
	s := p.Setup
	if guest := s.Backend.Guest; guest != nil {
		s.Progress("looking at the cluster")
		if err := guest.Look(ctx, s.Cluster, cmp.Or(s.Image, s.Adapter.Controller.Image)); err != nil {
			return err
		}
	}
	var err error
	p.prepared, err = install.Prepare(ctx, p.Cache, s.Adapter, s.selection())
	if err == nil && s.To != nil {
		selection := s.selection()
		selection.Version, selection.Image = s.To.Release, s.To.Image
		if p.to, err = install.Prepare(ctx, p.Cache, s.To.Adapter, selection); err != nil {
			err = fmt.Errorf("the release to upgrade to: %w", err)
		}
	}
	return err
}

// selection returns what of the adapter is wanted.
func (s Setup) selection() install.Selection {
	selection := install.Selection{
		Version: s.Release, Image: s.Image, Kubernetes: s.Cluster.Kubernetes, Containers: s.Backend.Containers,
	}
	if guest := s.Backend.Guest; guest != nil {
		selection.Namespace = guest.Namespace
	}
	return selection
}

// Check checks the provider as far as it needs neither a cluster nor a build (but that of Helm,
// which the cache keeps), and tells what there is.
func Check(ctx context.Context, s Setup) (install.Found, error) {
	cache, err := build.Open(s.Progress)
	if err != nil {
		return install.Found{}, err
	}
	selection := s.selection()
	selection.NoBuild = true
	prepared, err := install.Prepare(ctx, cache, s.Adapter, selection)
	if err != nil {
		return install.Found{}, err
	}
	return prepared.Found(ctx)
}

// Controller returns what the provider's controller was made of. It asks the registry for the image.
func (p *Plan) Controller(ctx context.Context) report.Controller {
	return report.Controller(p.prepared.Origin(ctx))
}

// UpgradesTo returns what specs upgrade the provider to, or nil. It asks the registry for the image.
func (p *Plan) UpgradesTo(ctx context.Context) *report.Upgrade {
	if p.to == nil {
		return nil
	}
	version, core := p.to.Version()
	return &report.Upgrade{
		Version: version, Karpenter: core, Adapter: p.Setup.To.Adapter.Origin(),
		Controller: report.Controller(p.to.Origin(ctx)),
	}
}

// Start starts a cluster and installs the provider, with logs of both in the folder logs. The
// caller closes the session.
func (p *Plan) Start(ctx context.Context, name, logs string) (*Session, error) {
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("folder for logs: %w", err)
	}
	s := &Session{setup: p.Setup, shapes: p.shapes}
	s.Place = env.Place{
		Adapter: p.Setup.Adapter, Namespace: Namespace, Shared: p.Setup.Backend.Guest != nil,
		Death: s.Err, WhileAlive: s.whileAlive, From: p.prepared, To: p.to,
	}
	s.alive, s.died = context.WithCancelCause(context.WithoutCancel(ctx))
	if p.Setup.Speed.Bent() {
		defer s.attachClock(ctx, p)() // until all works: components soon give up waiting for others
	}
	began := time.Now()
	o := p.Setup.Cluster
	o.Bare = p.prepared == nil
	o.Name, o.Logs, o.Progress, o.OnDeath, o.Clock, o.Leaps = name, logs, p.Setup.Progress, s.onDeath, s.Clock, p.Leaps
	var err error
	s.Cluster, err = p.Setup.Backend.Start(ctx, p.Cache, o)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	s.ClusterReady = time.Since(began)
	s.monitor(p.Setup.Progress)
	if p.prepared == nil {
		return s, nil
	}
	if err := s.installProvider(ctx, p.prepared); err != nil {
		if death := s.Err(); death != nil { // it explains the error
			err = death
		}
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}
