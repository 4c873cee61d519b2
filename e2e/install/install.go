package install

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Installed is a provider that runs on a cluster.
type Installed struct {
	Namespace  string // of the controller
	Deployment string // the controller's
	// CoreVersion is the release of Karpenter core, such as v1.15.0, or empty if it is unknown.
	CoreVersion string
	// KubernetesVersion is the API server's version, such as v1.36.3.
	KubernetesVersion string
	// Digest is the digest of the running image, such as sha256:...
	Digest string

	adapter    *providers.Adapter
	cluster    cluster.Cluster
	clients    *clients
	simulator  *simulator  // nil without one
	interposer *interposer // nil without one
	selector   string
	values     providers.Values             // by which the manifests were rendered
	objects    []*unstructured.Unstructured // the manifests
	container  corev1.Container             // the controller's
	// serviceAccount is that of the controller's pods.
	serviceAccount string
}

// Pods returns the names of the controller's pods, also of ending ones, or nil on an error.
func (i *Installed) Pods(ctx context.Context) []string {
	list, err := i.clients.typed.CoreV1().Pods(i.Namespace).List(ctx, metav1.ListOptions{LabelSelector: i.selector})
	if err != nil {
		return nil
	}
	names := make([]string, len(list.Items))
	for n := range list.Items {
		names[n] = list.Items[n].Name
	}
	return names
}

// Install puts the provider's CRDs, image and manifests on a cluster, and waits until the CRDs
// are established and the controller is ready. A controller that exits, can't start or exceeds
// controller.ready.timeout is an error. The error has its exit code, its pod's status and its
// last log lines.
//
// Ready means that the endpoint of the container's readiness probe answers. Install asks this
// endpoint itself if the pod's address is this host's. Charts let the kubelet wait seconds
// before the first probe, so the pod's status may still be not ready. Elsewhere the pod's
// Ready condition counts.
//
// Progress may be nil. The cluster must not have the provider yet. A failed installation
// leaves objects behind until the cluster is deleted.
func (p *Prepared) Install(ctx context.Context, c cluster.Cluster, progress func(string)) (*Installed, error) {
	say := func(line string) {
		if progress != nil {
			progress(line)
		}
	}
	clients, err := newClients(c.Config())
	if err != nil {
		return nil, err
	}
	values, err := p.clusterValues(c)
	if err != nil {
		return nil, err
	}
	images, on, err := p.load(ctx, c, clients, values, say)
	if err != nil {
		return nil, err
	}

	values.Image = providers.ParseImageName(images.controller)
	if values.Management, err = p.manage(ctx, c, values, say); err != nil {
		return nil, err
	}
	sim, err := p.simulate(ctx, c, clients, &values, images.simulator, say)
	if err != nil {
		return nil, err
	}
	between, err := p.interpose(ctx, c, clients, values, images.interposer, say)
	if err != nil {
		return nil, err
	}
	m, err := p.render(ctx, values, on)
	if err == nil {
		err = between.redirect(m)
	}
	if err != nil {
		return nil, err
	}
	say(fmt.Sprintf("applying the manifests of %s", p.adapter.Name))
	if err := clients.applyAll(ctx, m.objects, values.Namespace); err != nil {
		return nil, err
	}
	say(fmt.Sprintf("waiting for the controller of %s", p.adapter.Name))
	i := &Installed{
		Namespace: m.deployment.GetNamespace(), Deployment: m.deployment.GetName(),
		CoreVersion: p.core, KubernetesVersion: on.kubernetes, Digest: p.controller.digest,
		adapter: p.adapter, cluster: c, clients: clients, selector: m.selector, simulator: sim, interposer: between,
		values: values, objects: m.objects, container: m.container, serviceAccount: serviceAccount(m.deployment),
	}
	s := &start{
		Installed: i, what: "controller", timeout: p.adapter.Controller.Ready.Within(),
		setting: "controller.ready.timeout",
	}
	if err := s.await(ctx); err != nil || !p.converts() {
		return i, err
	}
	return i, i.awaitConverters(ctx)
}

// loaded holds the names of images in a cluster. Empty: there is none.
type loaded struct{ controller, simulator, interposer string }

// load installs the CRDs and loads the images. It also returns what the cluster serves.
func (p *Prepared) load(ctx context.Context, c cluster.Cluster, k *clients, v providers.Values, say func(string),
) (images loaded, on platform, err error) {
	say(fmt.Sprintf("installing the CRDs and the image of %s", p.adapter.Name))
	together, within := errgroup.WithContext(ctx)
	together.Go(func() error { return k.establish(within, p.crdsFor(v)) })
	together.Go(func() (err error) { images.controller, err = p.controller.load(within, c); return err })
	together.Go(func() (err error) { images.simulator, err = p.simulator.load(within, c); return err })
	var without error // such as that there is no registry
	together.Go(func() error { images.interposer, without = p.interposer.load(within, c); return nil })
	on, err = k.platform()
	if waitErr := together.Wait(); waitErr != nil {
		return images, on, waitErr
	}
	if without != nil {
		say(fmt.Sprintf("requests of the controller can't be made to fail, so that some specs are skipped: %v", without))
	}
	if err != nil {
		err = fmt.Errorf("asking the API server what it serves: %w", err)
	}
	return images, on, err
}

// load loads an image or a program into the cluster, and returns its name there.
func (l loadable) load(ctx context.Context, c cluster.Cluster) (name string, err error) {
	if l.ref == "" {
		return "", nil
	}
	if name, err = c.Load(ctx, l.ref); err != nil {
		return "", fmt.Errorf("loading the image %s: %w", l.ref, err)
	}
	return name, nil
}

// Objects returns what Install applies, CRDs first, to test whether a cluster accepts it.
// Samples replace the values that only the cluster knows.
func (p *Prepared) Objects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	m, err := p.render(ctx, p.values, platformOf(p.kubernetes))
	if err != nil {
		return nil, err
	}
	for _, o := range m.objects {
		if o.GetNamespace() == "" && o.GetKind() != "Namespace" {
			o.SetNamespace(p.values.Namespace) // ignored for cluster-scoped kinds
		}
	}
	if p.adapter.Simulator != nil {
		ca, err := authorityOf(p.adapter.Simulator)
		if err != nil {
			return nil, err
		}
		simulator, err := p.simulatorObjects(p.values, p.values.Image.Name, p.adapter.Simulator.Port, ca)
		if err != nil {
			return nil, err
		}
		m.objects = append(m.objects, simulator...)
	}
	return slices.Concat(p.crds, m.objects), nil
}

// clusterValues adds the values that only the cluster knows, but for the image's name there.
func (p *Prepared) clusterValues(c cluster.Cluster) (providers.Values, error) {
	v := p.values
	v.Endpoint = c.Config().Host
	var err error
	v.Ports, err = takePorts(c, p.adapter.Controller.Ports)
	return v, err
}

// takePorts allocates ports of the controller's pod, near those that are preferred.
func takePorts(c cluster.Cluster, preferred map[string]int) (map[string]int, error) {
	taken := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(preferred)) {
		port, err := c.Port(preferred[name])
		if err != nil {
			return nil, fmt.Errorf("a port for the controller's %s: %w", name, err)
		}
		taken[name] = port
	}
	return taken, nil
}
