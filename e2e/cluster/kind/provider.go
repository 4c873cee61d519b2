package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/support"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kinderrors "sigs.k8s.io/kind/pkg/exec"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// controlPlaneWithin is how long kubeadm's control plane may take to be ready.
const controlPlaneWithin = 3 * time.Minute

// provider is kind's library behind the interface by which e2e-framework asks for
// clusters. (The framework's own provider runs kind's command, which it would
// install from the network.)
type provider struct {
	library    *kindcluster.Provider
	name       string
	nodeImage  string
	kubeconfig string
	access     *rest.Config
}

var _ support.E2EClusterProviderWithImageLoader = (*provider)(nil)

func newProvider(e engine, kubeconfig string) *provider {
	return &provider{library: kindcluster.NewProvider(e.option), kubeconfig: kubeconfig}
}

// WithName names the cluster.
func (p *provider) WithName(name string) support.E2EClusterProvider {
	p.name = name
	return p
}

// WithVersion sets the image of the nodes, which is what a version is to kind.
func (p *provider) WithVersion(nodeImage string) support.E2EClusterProvider {
	p.nodeImage = nodeImage
	return p
}

// WithPath is for providers that are commands.
func (p *provider) WithPath(string) support.E2EClusterProvider { return p }

// WithOpts applies options.
func (p *provider) WithOpts(opts ...support.ClusterOpts) support.E2EClusterProvider {
	for _, o := range opts {
		o(p)
	}
	return p
}

// SetDefaults has nothing to set.
func (p *provider) SetDefaults() support.E2EClusterProvider { return p }

// Create makes the cluster and returns the path of the administrator's kubeconfig. It
// takes no arguments. If ctx ends, what was made so far is removed.
func (p *provider) Create(ctx context.Context, _ ...string) (string, error) {
	return p.create(ctx)
}

// CreateWithConfig is Create with a configuration file of kind's.
func (p *provider) CreateWithConfig(ctx context.Context, configFile string) (string, error) {
	return p.create(ctx, kindcluster.CreateWithConfigFile(configFile))
}

func (p *provider) create(ctx context.Context, options ...kindcluster.CreateOption) (string, error) {
	options = append(options,
		kindcluster.CreateWithNodeImage(p.nodeImage),
		kindcluster.CreateWithKubeconfigPath(p.kubeconfig),
		kindcluster.CreateWithRetain(true), // what went wrong is in the node's logs
		kindcluster.CreateWithWaitForReady(controlPlaneWithin),
	)
	created := make(chan error, 1)
	go func() { created <- p.library.Create(p.name, options...) }()
	select {
	case err := <-created:
		if err != nil {
			return "", explain(err)
		}
	case <-ctx.Done():
		// The library can't be interrupted, but doesn't go on without its node.
		err := p.library.Delete(p.name, p.kubeconfig)
		return "", errors.Join(context.Cause(ctx), err, <-created)
	}
	content, err := os.ReadFile(p.kubeconfig)
	if err != nil {
		return "", err
	}
	p.access, err = clientcmd.RESTConfigFromKubeConfig(content)
	return p.kubeconfig, err
}

// GetKubeconfig is the path of the administrator's kubeconfig.
func (p *provider) GetKubeconfig() string { return p.kubeconfig }

// GenerateKubeconfig is GetKubeconfig: there is one.
func (p *provider) GenerateKubeconfig(...string) (string, error) { return p.kubeconfig, nil }

// GetKubectlContext is the kubeconfig's context.
func (p *provider) GetKubectlContext() string { return "kind-" + p.name }

// KubernetesRestConfig is the administrator's access; nil before Create.
func (p *provider) KubernetesRestConfig() *rest.Config { return p.access }

// WaitForControlPlane has nothing to wait for: Create does.
func (p *provider) WaitForControlPlane(context.Context, klient.Client) error { return nil }

// ExportLogs writes the logs of the nodes and of their containers into a folder.
func (p *provider) ExportLogs(_ context.Context, dest string) error {
	return explain(p.library.CollectLogs(p.name, dest))
}

// Destroy removes the cluster.
func (p *provider) Destroy(context.Context) error {
	return explain(p.library.Delete(p.name, p.kubeconfig))
}

// LoadImage loads an image, of any form that image.Open knows, under its name of
// image.Name.
func (p *provider) LoadImage(ctx context.Context, ref string, _ ...string) error {
	img, err := image.Open(ctx, ref)
	if err != nil {
		return err
	}
	_, err = p.loadImage(img, ref)
	return err
}

// loadImage loads an image, which was opened by ref, and returns its name.
func (p *provider) loadImage(img v1.Image, ref string) (name string, err error) {
	digest := image.Digest(img)
	if digest == "" {
		return "", fmt.Errorf("image %q has no digest", ref)
	}
	name = image.Name(ref, digest)
	archive, into := io.Pipe()
	go func() { into.CloseWithError(image.Archive(img, name, into)) }()
	err = p.load(archive)
	archive.CloseWithError(err)
	if err != nil {
		return "", fmt.Errorf("image %q: %w", ref, err)
	}
	return name, nil
}

// LoadImageArchive loads what `docker save` wrote.
func (p *provider) LoadImageArchive(_ context.Context, path string, _ ...string) error {
	archive, err := os.Open(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	return p.load(archive)
}

func (p *provider) load(archive io.Reader) error {
	node, err := p.node()
	if err != nil {
		return err
	}
	return explain(nodeutils.LoadImageArchive(node, archive))
}

// node is the cluster's real node.
func (p *provider) node() (nodes.Node, error) {
	all, err := p.library.ListInternalNodes(p.name)
	if err != nil {
		return nil, explain(err)
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("kind cluster %s has %d nodes, and should have one", p.name, len(all))
	}
	return all[0], nil
}

// explain adds what a command of kind's wrote, which its error leaves out.
func explain(err error) error {
	ran := kinderrors.RunErrorForError(err)
	if err == nil || ran == nil || len(ran.Output) == 0 {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(ran.Output)), "\n")
	return fmt.Errorf("%w\n%s", err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
}
