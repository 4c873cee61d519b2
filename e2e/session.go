package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Namespace is where specs create their workloads.
const Namespace = "plumbline"

// Session is a cluster with a provider on it. Specs run in it one after
// another.
type Session struct {
	Cluster   cluster.Cluster
	Provider  *install.Installed
	Adapter   *providers.Adapter
	Namespace string
	Clock     *clock.Clock // what the cluster and this process live by; nil: the machine's

	// ClusterReady and ProviderReady are how long the one took to come up, and
	// then the other.
	ClusterReady, ProviderReady time.Duration

	speed    Speed
	shared   bool          // the cluster has nodes of others, which aren't for specs' pods
	collects bool          // the cluster's garbage collector knows NodeClaims
	stride   time.Duration // how far the clock may be moved at once
	client   dynamic.Interface
	mapper   meta.RESTMapper

	watched context.Context //nolint:containedctx // it is the session's life up to Close
	closing context.CancelFunc
	watch   cluster.Monitor

	// hold, if set, is called for a spec that ends red, before the clean-up.
	hold func(ctx context.Context, sentence string, end *ending)

	mu        sync.Mutex
	monitored []cluster.Monitored // what watch asks
	death     *cluster.Death
	died      context.CancelCauseFunc
	alive     context.Context //nolint:containedctx // it is the session's life, which specs derive theirs from
}

// Plan is a session that is ready to be started: everything that can be
// wrong without a cluster has been checked, everything to build is built.
type Plan struct {
	Config   Config
	Adapter  *providers.Adapter
	cache    *build.Cache
	prepared *install.Prepared // nil: without a provider
	progress func(string)

	leaps bool // see cluster.Options
}

// Prepare builds, or finds in the cache, the programs of the backend and of
// the provider. It starts nothing.
func Prepare(ctx context.Context, c Config, a *providers.Adapter, progress func(string)) (*Plan, error) {
	a = c.gated(a)
	builds, err := build.Open(progress)
	if err != nil {
		return nil, err
	}
	selection := install.Selection{Version: c.Release, Image: c.Image, Kubernetes: c.Kubernetes, Containers: c.backend.Containers}
	guest := c.backend.Guest
	if guest != nil {
		progress("looking at the cluster")
		if err := guest.Look(ctx, c.options(), cmp.Or(c.Image, a.Controller.Image)); err != nil {
			return nil, err
		}
		selection.Namespace = guest.Namespace
	}
	// The provider first: of what people ask for, it can be wrong in most ways,
	// and building a control plane takes minutes.
	prepared, err := install.Prepare(ctx, builds, a, selection)
	if err != nil {
		return nil, err
	}
	if err := c.backend.Prepare(ctx, builds, c.options()); err != nil {
		return nil, err
	}
	if guest != nil {
		objects, err := prepared.Objects(ctx)
		if err == nil {
			err = guest.Try(ctx, c.Kubeconfig, objects)
		}
		if err != nil {
			return nil, err
		}
	}
	p := &Plan{Config: c, Adapter: a, cache: builds, prepared: prepared, progress: progress}
	return p, p.prepareClock(ctx)
}

// PrepareBare is Prepare for a cluster without a provider, and without KWOK: as somebody
// has it who has not come across either.
func PrepareBare(ctx context.Context, c Config, progress func(string)) (*Plan, error) {
	if c.backend.Guest != nil {
		return nil, fmt.Errorf("CLUSTER=%s: that cluster is there already", c.Cluster)
	}
	builds, err := build.Open(progress)
	if err != nil {
		return nil, err
	}
	p := &Plan{Config: c, cache: builds, progress: progress}
	return p, errors.Join(c.backend.Prepare(ctx, builds, c.options()), p.prepareClock(ctx))
}

// Start brings a cluster up and installs the provider. Logs of both go to
// the folder logs. The caller closes the session.
func (p *Plan) Start(ctx context.Context, name, logs string) (*Session, error) {
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("folder for logs: %w", err)
	}
	s := &Session{Adapter: p.Adapter, Namespace: Namespace, stride: cluster.Step, shared: p.Config.backend.Guest != nil}
	s.alive, s.died = context.WithCancelCause(context.WithoutCancel(ctx))
	var err error
	if p.Config.Speed.Bent() {
		if s.Clock, err = theClock(ctx, p.cache); err != nil {
			p.progress(fmt.Sprintf("the clock runs at speed 1: %v", err))
		} else {
			defer s.Clock.Hold()() // until all works: those who wait for others to start give up soon
			s.speed = p.Config.Speed
			s.Clock.Govern(s.speed.Limit, !s.speed.Auto)
		}
	}
	if p.leaps {
		s.stride = cluster.Leap
	}
	began := time.Now()
	o := p.Config.options()
	o.Bare = p.prepared == nil
	o.Name, o.Logs, o.Progress, o.OnDeath, o.Clock, o.Leaps = name, logs, p.progress, s.onDeath, s.Clock, p.leaps
	s.Cluster, err = p.Config.backend.Start(ctx, p.cache, o)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	s.ClusterReady = time.Since(began)
	s.monitor(p.progress)
	if p.prepared == nil {
		return s, nil
	}
	if err := s.furnish(ctx, p); err != nil {
		if death := s.Err(); death != nil { // all else follows from it
			err = death
		}
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// furnish installs the provider and makes the namespace for specs.
func (s *Session) furnish(ctx context.Context, p *Plan) error {
	ctx, cancel := s.whileAlive(ctx)
	defer cancel()
	began := time.Now()
	var err error
	s.Provider, err = p.prepared.Install(ctx, s.Cluster, p.progress)
	if err != nil {
		return fmt.Errorf("provider %s: %w", p.Adapter.Name, err)
	}
	s.ProviderReady = time.Since(began)
	s.mu.Lock()
	s.monitored = append(s.monitored, s.Provider)
	s.mu.Unlock()
	go func() {
		if words := s.Provider.SimulatorEnded(s.watched); words != nil {
			s.onDeath(cluster.Death{Component: install.SimulatorComponent, LastLines: words})
		}
	}()
	s.client, err = dynamic.NewForConfig(s.Cluster.Config())
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(s.Cluster.Config())
	if err != nil {
		return err
	}
	s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))
	return createNamespace(ctx, typed, s.Namespace)
}

// createNamespace makes a namespace in which pods can be created, which is
// once its default service account exists.
func createNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Own(ns)
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	accounts := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "serviceaccounts", name, fields.OneTermEqualSelector("metadata.name", "default"))
	_, err := watchtools.UntilWithSync(ctx, accounts, &corev1.ServiceAccount{}, nil, func(e watch.Event) (bool, error) {
		return e.Type == watch.Added || e.Type == watch.Modified, nil
	})
	if err != nil {
		return fmt.Errorf("namespace %s: its default service account was not created: %w", name, err)
	}
	return nil
}

// describe is what specs run on here.
func (s *Session) describe(backend string) *report.Cluster {
	c := report.Cluster{
		Backend: backend, Kubernetes: s.Provider.KubernetesVersion, Karpenter: s.Provider.CoreVersion, Image: s.Provider.Digest, Speed: "1",
	}
	if imaged, is := s.Cluster.(cluster.Imaged); is {
		c.NodeImage = imaged.NodeImage()
	}
	if s.Clock != nil && s.Clock.Err() == nil {
		c.Speed = s.speed.String()
	}
	return &c
}

// monitor asks the cluster's components whether they work, and the provider's as soon as it
// is installed, until Close.
func (s *Session) monitor(progress func(string)) {
	if m, can := s.Cluster.(cluster.Monitored); can {
		s.monitored = append(s.monitored, m)
	}
	s.watch = cluster.Monitor{Components: s.components, Clock: s.Clock, Progress: progress}
	s.watched, s.closing = context.WithCancel(s.alive)
	go func() {
		if hung := s.watch.Run(s.watched); hung != nil {
			s.onDeath(*hung)
		}
	}()
}

func (s *Session) components() []cluster.Component {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []cluster.Component
	for _, m := range s.monitored {
		all = append(all, m.Components()...)
	}
	return all
}

// awaitAnswers returns when all components have answered, or one hangs: what a spec saw
// counts only if they still work at its end.
func (s *Session) awaitAnswers(ctx context.Context) {
	ctx, cancel := s.whileAlive(ctx)
	defer cancel()
	if hung := s.watch.Ask(ctx); hung != nil {
		s.onDeath(*hung)
	}
}

// onDeath notes the first component that died, from which all else may follow.
func (s *Session) onDeath(d cluster.Death) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.death == nil {
		s.death = &d
		s.died(d)
	}
}

// whileAlive gives a context that also ends when a component of the cluster
// dies, or hangs.
func (s *Session) whileAlive(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(s.alive, func() { cancel(context.Cause(s.alive)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Err says which component died, or hangs, with its last lines; nil if none has. After
// that the session can't be trusted any more.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.death == nil {
		return nil
	}
	if len(s.death.LastLines) == 0 {
		return *s.death
	}
	return fmt.Errorf("%w\nits last lines:\n  %s", *s.death, strings.Join(s.death.LastLines, "\n  "))
}

// Close ends the session's cluster and all that runs on it.
func (s *Session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s.closing()
	if s.Clock != nil {
		defer s.Clock.Hold()()
	}
	return s.Cluster.Close(ctx)
}

// Dead is closed when a component of the cluster has died.
func (s *Session) Dead() <-chan struct{} { return s.alive.Done() }
