package existing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kwok"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/lease"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/pods"
)

// release returns the release of KWOK. It is built here if there is a registry to push it to;
// otherwise it is the published one.
func release(ctx context.Context, c *build.Cache, o cluster.Options) (kwok.Release, error) {
	if o.Registry == "" {
		return kwok.Published(ctx, c)
	}
	return kwok.Prepare(ctx, c)
}

// Prepare builds what Start needs, and checks that the cluster would accept it.
func Prepare(ctx context.Context, c *build.Cache, o cluster.Options) error {
	r, err := release(ctx, c, o)
	if err != nil {
		return err
	}
	objects, err := r.Objects(ctx, systemNamespace, r.Image)
	if err != nil {
		return err
	}
	for _, name := range []string{ProviderNamespace, specsNamespace} {
		objects = append(objects, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
		})
	}
	all, err := unstructuredOf(objects)
	if err != nil {
		return err
	}
	return Try(ctx, o.Kubeconfig, all)
}

// Start installs KWOK on the cluster of o.Kubeconfig, which must have passed Check. It fails
// if another run uses the cluster. If it fails, only the logs are left.
func Start(ctx context.Context, c *build.Cache, o cluster.Options) (cluster.Cluster, error) {
	say := o.Progress
	if say == nil {
		say = func(string) {}
	}
	r, err := release(ctx, c, o)
	if err != nil {
		return nil, err
	}
	access, err := connect(o.Kubeconfig)
	if err != nil {
		return nil, err
	}
	if o.Logs != "" {
		if err := os.MkdirAll(o.Logs, 0o755); err != nil {
			return nil, err
		}
	}
	e := &existing{
		clients: access, kubeconfig: o.Kubeconfig, registry: o.Registry, logs: o.Logs, release: func() {},
		stop: func() {}, seen: sets.New[string](),
	}
	// Before the lease is held, there is nothing to remove.
	began := time.Now()
	say("installing KWOK on " + access.config.Host)
	if err := e.acquire(ctx, o.OnDeath); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", access.config.Host, err)
	}
	if err := e.install(ctx, r); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster %s: %w", access.config.Host, err), e.Close(context.WithoutCancel(ctx)))
	}
	say(fmt.Sprintf("KWOK is ready after %.1f s", time.Since(began).Seconds()))
	return e, nil
}

// acquire makes this run the cluster's only one, until Close.
func (e *existing) acquire(ctx context.Context, onDeath func(cluster.Death)) error {
	if err := errors.Join(e.otherRun(ctx)...); err != nil {
		return err
	}
	namespaces := e.typed.CoreV1().Namespaces()
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}}
	cluster.Own(own)
	if _, err := namespaces.Create(ctx, own, metav1.CreateOptions{}); err != nil {
		if apierrors.IsAlreadyExists(err) {
			err = fmt.Errorf("namespace %s exists already: if a dead run left it, `make clean-existing` removes it; "+
				"otherwise another user works on this cluster", systemNamespace)
		}
		return err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	report := cluster.First(life, onDeath)
	var err error
	e.release, err = lease.Hold(ctx, e.typed.CoordinationV1(), systemNamespace, lease.Name, func(err error) {
		report(cluster.Death{Component: "the run's hold on the cluster", LastLines: []string{err.Error()}})
	})
	if err != nil { // without the lease, the namespace has no known owner
		stop()
		return errors.Join(err, namespaces.Delete(context.WithoutCancel(ctx), systemNamespace, metav1.DeleteOptions{}))
	}
	e.watched.Go(func() { pods.WatchRestarts(life, e.typed, systemNamespace, fields.Everything(), report) })
	e.watched.Go(func() {
		if err := e.watchNodes(life); err != nil {
			report(cluster.Death{Component: "the watch of the nodes", LastLines: []string{err.Error()}})
		}
	})
	return nil
}

// watchNodes records the names of fake nodes, until ctx ends.
func (e *existing) watchNodes(ctx context.Context) error {
	nodes := cache.NewListWatchFromClient(e.typed.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll, fields.Everything())
	_, err := watchtools.UntilWithSync(ctx, nodes, &corev1.Node{}, nil, func(event watch.Event) (bool, error) {
		if node, is := event.Object.(*corev1.Node); is && node.Annotations[fakeNode] != "" {
			e.seen.Insert(node.Name)
		}
		return false, nil
	})
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func (e *existing) install(ctx context.Context, r kwok.Release) error {
	name := r.Image
	if e.registry != "" {
		var err error
		if name, err = e.Load(ctx, r.Image); err != nil {
			return err
		}
	}
	return r.Install(ctx, e.config, systemNamespace, name)
}
