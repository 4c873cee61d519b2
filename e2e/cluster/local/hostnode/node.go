// Package hostnode simulates the kubelet of one node, "plumbline-host". A provider's own pod
// runs there as ordinary processes of this machine. So a provider's chart can be installed on
// a control plane without a machine for containers.
//
//	node, err := hostnode.Start(ctx, hostnode.Options{Config: config, Dir: dir, Logs: logs})
//	...
//	defer node.Close(ctx)
//	name, err := node.Load(ctx, "./build/karpenter")  // image name for the chart
//
// # As on any node
//
// The node runs the pods that are bound to it, with:
//   - command, args and image defaults; env from fields, resources, ConfigMaps and Secrets
//   - volumes: configMap, secret, downwardAPI, projected, emptyDir
//   - init containers and sidecars; startup, liveness and readiness probes over HTTP
//   - restarts with the kubelet's back-off; status, events, kubectl logs
//   - SIGTERM, the grace period, and SIGKILL at deletion
//
// A pod acts as its own service account, so missing RBAC shows. The node carries the taint
// CriticalAddonsOnly, which the charts of Karpenter's providers tolerate and workloads don't.
//
// # Differences
//
// The network is the host's: a pod's address is 127.0.0.1, and pods' ports can collide. A
// process sees only its image's files (see [Isolation]) but the host's processes and devices.
// Limits, capabilities, seccomp and a read-only root file system are not enforced. Volumes are
// copies, separate in each container and refreshed once a minute.
//
// The node refuses what no provider's chart uses: host paths, persistent volumes, subPath, an
// emptyDir with two mounts, and probes by exec, TCP or gRPC. It starts nothing of such a pod;
// its containers wait, and their status has the reason.
//
// On Linux, processes die with the process that started them, even if that is killed.
package hostnode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// Name is the node's name; TaintKey is the key of its taint.
const (
	Name     = "plumbline-host"
	TaintKey = cluster.SystemTaint
)

// loopback is the address of the node and of all its pods.
const loopback = "127.0.0.1"

// Options holds the node's settings. Config, Dir and Logs are required.
type Options struct {
	Config *rest.Config // administrator's access to the cluster
	Dir    string       // for unpacked images and the files of pods; removed by Close
	Logs   string       // receives <namespace>_<pod>_<container>.log

	// APIServer is the address that pods are given for it, if not Config's. Who answers there has a certificate that
	// Config trusts.
	APIServer string

	// Heartbeat is how often the node's lease is renewed; default 10 s, as in the kubelet.
	Heartbeat time.Duration
	// Backoff delays the restart after the second crash in a row; each further crash doubles
	// it, up to 5 min. The default is 10 s, as in the kubelet. The first crash delays nothing.
	Backoff time.Duration
	// Isolation of the pods' processes; if empty, Start finds the best by trying.
	Isolation Isolation
	// KubeletCA, in PEM, must have signed the client certificates of requests for logs.
	// Without it, any process of this machine may read them.
	KubeletCA []byte
	// Clock is the containers' clock; nil: the machine's. A container that can't use it makes
	// the clock run at speed 1 for good.
	Clock *clock.Clock
}

// Node is the running node.
type Node struct {
	options   Options
	client    kubernetes.Interface
	isolation Isolation
	starter   *starter
	images    *images
	server    *server
	rootCA    []byte            // certificate of the API server
	services  map[string]string // environment variables of every container

	ctx    context.Context // ends when the node is closed
	cancel context.CancelFunc
	work   sync.WaitGroup
	closed sync.Once

	mu   sync.Mutex
	pods map[types.UID]*pod
}

// Start registers the node and begins to run the pods that are bound to it. It returns once
// the API server has the node. The node lives until Close, even if ctx ends.
func Start(ctx context.Context, o Options) (*Node, error) {
	if o.Config == nil || o.Dir == "" || o.Logs == "" {
		return nil, errors.New("starting the host node: Config, Dir and Logs are required")
	}
	o.Config = rest.CopyConfig(o.Config)
	o.Config.QPS = -1 // client-go's limit, five requests a second, would cause delays of seconds
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("starting the host node: %w", err)
	}
	n, err := start(ctx, o, client)
	if err != nil {
		return nil, fmt.Errorf("starting the host node: %w", err)
	}
	return n, nil
}

func start(ctx context.Context, o Options, client kubernetes.Interface) (*Node, error) {
	if o.Heartbeat == 0 {
		o.Heartbeat = 10 * time.Second
	}
	if o.Backoff == 0 {
		o.Backoff = 10 * time.Second
	}
	for _, dir := range []string{o.Dir, o.Logs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	o.APIServer = cmp.Or(o.APIServer, o.Config.Host)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	n := &Node{
		options: o, client: client,
		images: newImages(filepath.Join(dir, "images")), pods: map[types.UID]*pod{},
	}
	if n.rootCA, err = rootCA(o.Config); err != nil {
		return nil, err
	}
	if n.services, err = serviceVariables(o.APIServer); err != nil {
		return nil, err
	}
	n.ctx, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	n.starter = newStarter(o.Clock)
	if n.isolation = o.Isolation; n.isolation == "" {
		n.isolation = probeIsolation(ctx, n.starter)
	}
	if n.server, err = serveLogs(n, o.KubeletCA); err == nil {
		err = n.register(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close(ctx))
	}
	n.work.Go(n.heartbeat)
	n.work.Go(n.watchPods)
	return n, nil
}

// Isolation returns how this node separates its processes from the host's files.
func (n *Node) Isolation() Isolation { return n.isolation }

// Load makes an image available to pods, and returns its name for manifests:
// "plumbline.local/<name>:<start of the digest>". The reference is one that image.Open
// understands, or "binary:<path>" of an executable. That runs without a root of its own, for
// systems where images can't run (macOS).
//
// An image is unpacked once. Load fails if it does not exist or is for another architecture.
func (n *Node) Load(ctx context.Context, ref string) (string, error) {
	return n.images.load(ctx, ref)
}

// Close ends every process of the node and removes the node's folder; logs stay. It sends
// SIGTERM, and SIGKILL after two seconds or when ctx ends. It changes nothing in the API,
// because the cluster ends too. It is safe to call twice.
func (n *Node) Close(ctx context.Context) error {
	var err error
	n.closed.Do(func() {
		n.cancel()
		done := make(chan struct{})
		go func() { n.work.Wait(); close(done) }()
		select {
		case <-done:
		case <-ctx.Done():
			n.starter.killAll()
			<-done
		}
		if n.server != nil {
			err = errors.Join(err, n.server.close())
		}
		n.starter.close()
		err = errors.Join(err, os.RemoveAll(n.options.Dir))
	})
	if err != nil {
		return fmt.Errorf("closing the host node: %w", err)
	}
	return nil
}
