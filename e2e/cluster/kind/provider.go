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
	kindcluster "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kinderrors "sigs.k8s.io/kind/pkg/exec"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// controlPlaneWithin is how long kubeadm's control plane may take to be ready.
const controlPlaneWithin = 3 * time.Minute

// provider is one cluster of kind's library, whether or not it is there yet.
//
// e2e-framework has a provider for kind too. It runs kind's command, which it would install
// from the network, and can't keep it away from the user's own kubeconfig when it removes a
// cluster.
type provider struct {
	library    *kindcluster.Provider
	name       string
	kubeconfig string // path of the administrator's
}

func newProvider(e engine, name, kubeconfig string) *provider {
	return &provider{library: kindcluster.NewProvider(e.option), name: prefix + name, kubeconfig: kubeconfig}
}

// create makes the cluster, its node from an image, and returns the administrator's access.
// If ctx ends, what was made so far is removed.
func (p *provider) create(ctx context.Context, nodeImage string) (*rest.Config, error) {
	options := []kindcluster.CreateOption{
		kindcluster.CreateWithNodeImage(nodeImage),
		kindcluster.CreateWithKubeconfigPath(p.kubeconfig),
		kindcluster.CreateWithRetain(true), // what went wrong is in the node's logs
		kindcluster.CreateWithWaitForReady(controlPlaneWithin),
	}
	created := make(chan error, 1)
	go func() { created <- p.library.Create(p.name, options...) }()
	select {
	case err := <-created:
		if err != nil {
			return nil, explain(err)
		}
	case <-ctx.Done():
		// The library can't be interrupted, but doesn't go on without its node.
		err := p.library.Delete(p.name, p.kubeconfig)
		return nil, errors.Join(context.Cause(ctx), err, <-created)
	}
	content, err := os.ReadFile(p.kubeconfig)
	if err != nil {
		return nil, err
	}
	return clientcmd.RESTConfigFromKubeConfig(content)
}

// exportLogs writes the logs of the nodes and of their containers into a folder.
func (p *provider) exportLogs(folder string) error {
	return explain(p.library.CollectLogs(p.name, folder))
}

// destroy removes the cluster.
func (p *provider) destroy() error {
	return explain(p.library.Delete(p.name, p.kubeconfig))
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

// load loads what `docker save` would write.
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
