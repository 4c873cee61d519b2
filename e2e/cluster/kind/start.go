package kind

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kwok"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// prefix begins the names of the harness's clusters, which people see among others.
const prefix = "plumbline-"

// kwokNamespace is KWOK's namespace.
const kwokNamespace = "plumbline-kwok"

const (
	systemWithin = 2 * time.Minute
	systemPoll   = 250 * time.Millisecond
)

// Prepare checks that an engine runs, and builds what Start needs.
func Prepare(ctx context.Context, c *build.Cache, _ cluster.Options) error {
	if _, err := findEngine(ctx); err != nil {
		return err
	}
	_, err := kwok.Prepare(ctx, c)
	return err
}

// Start makes a cluster and returns when its system and KWOK work, and the API server has the
// version asked for, full or minor. It pulls the node image if the engine doesn't have it. If
// it fails, only the logs are left.
func Start(ctx context.Context, c *build.Cache, o cluster.Options) (cluster.Cluster, error) {
	say := o.Progress
	if say == nil {
		say = func(string) {}
	}
	e, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	release, err := kwok.Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	if o.NodeImage == "" {
		o.NodeImage = nodeImages()[o.Kubernetes]
	}
	folder, err := owned.Acquire(ctx, clusters(c.Dir), o.Name)
	if err != nil {
		return nil, err
	}
	say(fmt.Sprintf("starting Kubernetes %s in %s, from %s", o.Kubernetes, e.command, o.NodeImage))
	begin := time.Now()
	k := &kind{
		folder: folder, engine: e, logs: o.Logs, stop: func() {},
		provider: newProvider(e, o.Name, folder.Path("kubeconfig")),
	}
	if err := k.start(ctx, o, release); err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster %s: %w", o.Name, err), k.Close(context.WithoutCancel(ctx)))
	}
	say(fmt.Sprintf("Kubernetes %s is ready after %.1f s", o.Kubernetes, time.Since(begin).Seconds()))
	return k, nil
}

func (k *kind) start(ctx context.Context, o cluster.Options, release kwok.Release) error {
	var err error
	if k.access, err = k.provider.create(ctx, o.NodeImage); err != nil {
		return err
	}
	k.access.QPS = -1 // the harness's own requests aren't what is tested
	if k.client, err = kubernetes.NewForConfig(k.access); err != nil {
		return err
	}
	if k.node, err = k.provider.node(); err != nil {
		return err
	}
	if k.nodeImage, err = k.engine.inspect(ctx, k.node.String(), "{{.Config.Image}} ({{.Image}})"); err != nil {
		return err
	}
	if err := k.isVersion(o.Kubernetes); err != nil {
		return err
	}
	if o.Bare {
		return k.awaitSystem(ctx)
	}
	name, err := k.Load(ctx, release.Image)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{k.awaitSystem, k.separateSystem} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := release.Install(ctx, k.access, kwokNamespace, name); err != nil {
		return err
	}
	k.supervise(ctx, o.OnDeath)
	return nil
}

// isVersion checks that the server has the version asked for.
func (k *kind) isVersion(asked string) error {
	version, err := k.client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	if !matchesVersion(version.GitVersion, asked) {
		return fmt.Errorf("the API server says that it is %s, not %s; its node is made of %s", version.GitVersion, asked,
			k.nodeImage)
	}
	return nil
}

// awaitSystem waits until the system's Deployments are available: the provider would launch
// nodes for their pending pods. It also waits for the default service account, without which
// no pod can be created.
func (k *kind) awaitSystem(ctx context.Context) error {
	var waiting string
	err := wait.PollUntilContextTimeout(ctx, systemPoll, systemWithin, true, func(ctx context.Context) (bool, error) {
		deployments, err := k.client.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, d := range deployments.Items {
			if d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas < *d.Spec.Replicas {
				waiting = fmt.Sprintf("Deployment %s in namespace %s has %d of %d pods", d.Name, d.Namespace,
					d.Status.AvailableReplicas, *d.Spec.Replicas)
				return false, nil
			}
		}
		waiting = "namespace default has no service account"
		_, err = k.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("the system is not ready within %s: %s", systemWithin, waiting)
	}
	return err
}

// Names that kubeadm and kind set.
const (
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	systemNamespace   = metav1.NamespaceSystem
)

// separateSystem keeps workloads off the real node, and the system's daemons off all others,
// where they would use up capacity.
func (k *kind) separateSystem(ctx context.Context) error {
	daemons := k.client.AppsV1().DaemonSets(systemNamespace)
	all, err := daemons.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, d := range all.Items {
		patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:""}}}}}`, controlPlaneLabel)
		if _, err := daemons.Patch(ctx, d.Name, types.StrategicMergePatchType, []byte(patch),
			metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("keeping %s on the real node: %w", d.Name, err)
		}
	}
	nodes := k.client.CoreV1().Nodes()
	patch := fmt.Sprintf(`{"spec":{"taints":[{"key":%q,"value":"true","effect":%q}]}}`, cluster.SystemTaint,
		corev1.TaintEffectNoSchedule)
	if _, err := nodes.Patch(ctx, k.node.String(), types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("tainting the real node: %w", err)
	}
	return nil
}

// clusters returns the parent of all clusters' folders.
func clusters(cache string) string { return filepath.Join(cache, "kind") }
