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

// provider is one cluster of kind's library, whether or not it exists yet.
//
// e2e-framework's provider for kind doesn't fit. It would install kind's command from the
// network. When it removes a cluster, it can't leave the user's own kubeconfig alone.
type provider struct {
	library    *kindcluster.Provider
	name       string
	kubeconfig string // path of the administrator's
}

func newProvider(e engine, name, kubeconfig string) *provider {
	return &provider{library: kindcluster.NewProvider(e.option), name: prefix + name, kubeconfig: kubeconfig}
}

// create makes the cluster from a node image, and returns the administrator's access. If ctx
// ends, it removes what exists so far.
func (p *provider) create(ctx context.Context, nodeImage string) (*rest.Config, error) {
	options := []kindcluster.CreateOption{
		kindcluster.CreateWithNodeImage(nodeImage),
		kindcluster.CreateWithKubeconfigPath(p.kubeconfig),
		kindcluster.CreateWithRetain(true), // for the node's logs
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
		// The library can't be interrupted, but fails without its node.
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

// loadImage loads an image, opened from ref, and returns its name.
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

// load loads an archive in the format of `docker save`.
func (p *provider) load(archive io.Reader) error {
	node, err := p.node()
	if err != nil {
		return err
	}
	return explain(nodeutils.LoadImageArchive(node, archive))
}

// node returns the cluster's real node.
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

// explain adds the output of kind's command, which its error leaves out.
func explain(err error) error {
	ran := kinderrors.RunErrorForError(err)
	if err == nil || ran == nil || len(ran.Output) == 0 {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(ran.Output)), "\n")
	return fmt.Errorf("%w\n%s", err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
}
