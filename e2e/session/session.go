package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/placement"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Namespace is where specs create their workloads.
const Namespace = "plumbline"

// Session is a cluster with a provider on it. Specs run in it one after another.
type Session struct {
	env.Place
	Clock *clock.Clock // the clock of the cluster and this process; nil: the machine's

	// How long the cluster took to start, and then the provider.
	ClusterReady, ProviderReady time.Duration

	setup    Setup
	shapes   *placement.Shapes // that nodes of this process's sessions have had
	collects bool              // the cluster's garbage collector knows NodeClaims
	recorded bool              // a spec has been recorded

	watched context.Context //nolint:containedctx // it is the session's life up to Close
	closing context.CancelFunc
	watch   cluster.Monitor

	mu        sync.Mutex
	monitored []cluster.Monitored // what watch asks for components
	death     *cluster.Death
	died      context.CancelCauseFunc
	alive     context.Context //nolint:containedctx // it is the session's life, which specs derive theirs from
}

// installProvider installs the provider and creates the namespace for specs.
func (s *Session) installProvider(ctx context.Context, p *install.Prepared) error {
	ctx, cancel := s.whileAlive(ctx)
	defer cancel()
	began := time.Now()
	var err error
	s.Provider, err = p.Install(ctx, s.Cluster, s.setup.Progress)
	if err != nil {
		return fmt.Errorf("provider %s: %w", s.Adapter.Name, err)
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
	s.Client, err = dynamic.NewForConfig(s.Cluster.Config())
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(s.Cluster.Config())
	if err != nil {
		return err
	}
	s.Mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(typed.Discovery()))
	return createNamespace(ctx, typed, s.Namespace)
}

// createNamespace creates a namespace and waits for its default service account. Pods need it.
func createNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Own(ns)
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	accounts := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "serviceaccounts", name,
		fields.OneTermEqualSelector("metadata.name", "default"))
	_, err := watchtools.UntilWithSync(ctx, accounts, &corev1.ServiceAccount{}, nil, func(e watch.Event) (bool, error) {
		return e.Type == watch.Added || e.Type == watch.Modified, nil
	})
	if err != nil {
		return fmt.Errorf("namespace %s: its default service account was not created: %w", name, err)
	}
	return nil
}

// Describe returns what specs run on here.
func (s *Session) Describe() *report.Cluster {
	c := report.Cluster{
		Backend: s.setup.Backend.Name, Kubernetes: s.Provider.KubernetesVersion, Karpenter: s.Provider.CoreVersion,
		Image: s.Provider.Digest, Speed: "1",
	}
	if imaged, is := s.Cluster.(cluster.Imaged); is {
		c.NodeImage = imaged.NodeImage()
	}
	if s.Clock != nil && s.Clock.Err() == nil {
		c.Speed = s.setup.Speed.String()
	}
	return &c
}

// monitor checks the components of the cluster, and of the provider once installed, until
// Close.
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

// awaitAnswers returns when all components have answered, or one hangs. What a spec saw counts
// only if they still work at its end.
func (s *Session) awaitAnswers(ctx context.Context) {
	ctx, cancel := s.whileAlive(ctx)
	defer cancel()
	if hung := s.watch.Ask(ctx); hung != nil {
		s.onDeath(*hung)
	}
}

// onDeath keeps the first component that died. Everything later may follow from it.
func (s *Session) onDeath(d cluster.Death) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.death == nil {
		s.death = &d
		s.died(d)
	}
}

// whileAlive returns a context that also ends when a component of the cluster dies or hangs.
func (s *Session) whileAlive(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(s.alive, func() { cancel(context.Cause(s.alive)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Err returns the component that died or hangs, with its last lines, or nil. After an error
// the session can't be trusted.
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

// Dead returns a channel that is closed when a component of the cluster dies or hangs.
func (s *Session) Dead() <-chan struct{} { return s.alive.Done() }
