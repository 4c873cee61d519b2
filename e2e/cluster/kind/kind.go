package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kwok"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/pods"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// kind is a running cluster.
type kind struct {
	folder    *owned.Folder
	provider  *provider
	engine    engine
	logs      string // folder for the logs, empty for none
	access    *rest.Config
	client    kubernetes.Interface
	node      nodes.Node
	nodeImage string // of the running node
	stop      context.CancelFunc

	closing sync.Mutex
	closed  bool
}

// What this backend can do beyond cluster.Cluster.
var (
	_ cluster.Killer    = (*kind)(nil)
	_ cluster.Pauser    = (*kind)(nil)
	_ cluster.Imaged    = (*kind)(nil)
	_ cluster.Monitored = (*kind)(nil)
)

// Config returns the administrator's access.
func (k *kind) Config() *rest.Config { return k.access }

// Kubeconfig returns the path of the administrator's kubeconfig. Close removes it.
func (k *kind) Kubeconfig() string { return k.folder.Path("kubeconfig") }

// Port returns preferred, because pods have their own addresses.
func (k *kind) Port(preferred int) (int, error) { return preferred, nil }

// NodeImage returns the image that the real node was made from, and its ID.
func (k *kind) NodeImage() string { return k.nodeImage }

// Components lists the API server, the only component that can be reached from here. The
// kubelet restarts others that hang.
func (k *kind) Components() []cluster.Component {
	return []cluster.Component{cluster.APIServer(k.client)}
}

// Load makes an image available to the real node's pods.
func (k *kind) Load(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, cluster.BinaryPrefix) {
		return "", fmt.Errorf("%s: the nodes of kind run images, and no programs of this machine", ref)
	}
	img, err := image.Open(ctx, ref)
	if err != nil {
		return "", err
	}
	return k.provider.loadImage(img, ref)
}

// PodLog returns the output of a pod's containers, see pods.Log.
func (k *kind) PodLog(ctx context.Context, namespace, name string) (io.ReadCloser, error) {
	return pods.Log(ctx, k.client, namespace, name)
}

// Kill ends the containers of a pod of the real node by SIGKILL.
func (k *kind) Kill(ctx context.Context, namespace, pod string) error {
	return k.signal(ctx, "KILL", "io.kubernetes.pod.namespace="+namespace, "io.kubernetes.pod.name="+pod)
}

// PauseKubelets pauses KWOK, which simulates them.
func (k *kind) PauseKubelets(ctx context.Context) (resume func() error, err error) {
	its := []string{"io.kubernetes.pod.namespace=" + kwokNamespace, "io.kubernetes.container.name=" + kwok.Deployment}
	resume = func() error { return k.signal(context.WithoutCancel(ctx), "CONT", its...) }
	if err := k.signal(ctx, "STOP", its...); err != nil {
		return nil, errors.Join(err, resume())
	}
	return resume, nil
}

// signalled is a shell script. It sends a signal to the main processes of the containers with
// all of the given labels. After KILL it waits until they are gone.
const signalled = `set -eu
signal=$1; shift
pids=
for id in $(crictl ps --quiet "$@"); do
  pids="$pids $(crictl inspect --output go-template --template '{{.info.pid}}' "$id")"
done
[ -n "$pids" ] || { echo "no such container runs" >&2; exit 1; }
kill -s "$signal" $pids
[ "$signal" = KILL ] || exit 0
for pid in $pids; do
  while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do sleep 0.05; done
done
`

func (k *kind) signal(ctx context.Context, signal string, labels ...string) error {
	args := []string{"-c", signalled, "sh", signal}
	for _, label := range labels {
		args = append(args, "--label", label)
	}
	var said bytes.Buffer
	err := k.node.CommandContext(ctx, "sh", args...).SetStderr(&said).Run()
	if err != nil {
		return fmt.Errorf("SIG%s to the containers with %s: %w: %s", signal, strings.Join(labels, " and "), err,
			strings.TrimSpace(said.String()))
	}
	return nil
}

// Close writes the logs and removes the cluster.
func (k *kind) Close(ctx context.Context) error {
	k.closing.Lock()
	defer k.closing.Unlock()
	if k.closed {
		return nil
	}
	k.stop()
	var err error
	if k.logs != "" {
		err = k.provider.exportLogs(k.logs)
		if k.node == nil { // it never ran completely, so logs may be missing
			err = nil
		}
	}
	if gone := k.provider.destroy(); gone != nil {
		// The folder stays as the proof of ownership: the next run tries again.
		k.folder.Release()
		return fmt.Errorf("close cluster %s: %w", k.folder.Name, errors.Join(err, gone))
	}
	k.closed = true
	if err = errors.Join(err, k.folder.Remove(ctx)); err != nil {
		return fmt.Errorf("close cluster %s: %w", k.folder.Name, err)
	}
	return nil
}
