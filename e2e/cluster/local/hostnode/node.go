// Package hostnode plays the kubelet of one node, "plumbline-host", on which a
// provider's own pod runs as ordinary processes of this machine. It lets a
// provider be installed by its own chart on a control plane that has no
// machine to run containers on.
//
//	node, err := hostnode.Start(ctx, hostnode.Options{Config: config, Dir: dir, Logs: logs})
//	...
//	defer node.Close(ctx)
//	name, err := node.Load(ctx, "./build/karpenter")  // what the chart's image must be called
//
// # What is as on any node
//
// Pods that are bound to the node run: command, args and image defaults;
// environment with references to fields, resources, ConfigMaps and Secrets;
// volumes of kind configMap, secret, downwardAPI, projected and emptyDir;
// init containers and sidecars; startup, liveness and readiness probes over
// HTTP; restarts with the kubelet's back-off; status, events, kubectl logs;
// SIGTERM, the grace period, and SIGKILL at deletion. A pod acts as its own
// service account, so missing RBAC shows.
//
// The node carries the taint CriticalAddonsOnly, which the charts of
// Karpenter's providers tolerate and workloads don't.
//
// # What is not
//
// The network is the host's: a pod's address is 127.0.0.1, and ports of pods
// collide. A process sees only its image's files (see [Isolation]) but the
// host's processes and devices; limits are not enforced, nor are capabilities,
// seccomp and a read-only root file system. Volumes are copies that are
// refreshed once a minute, in each container its own.
//
// What no provider's chart has is refused: host paths, persistent volumes,
// subPath, an emptyDir of two mounts, and probes by exec, TCP or gRPC. Then
// nothing of the pod is started: its containers wait and say why.
//
// Processes die with the one that started them, even if that is killed (on Linux).
package hostnode

import (
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

// Name of the node, and the key of the taint that keeps others off.
const (
	Name     = "plumbline-host"
	TaintKey = cluster.SystemTaint
)

// Address of the node and of every pod on it.
const loopback = "127.0.0.1"

// Options say where the node lives. Config, Dir and Logs are required.
type Options struct {
	Config *rest.Config // administrator's access to the cluster
	Dir    string       // for unpacked images and the files of pods; removed by Close
	Logs   string       // receives <namespace>_<pod>_<container>.log

	// Heartbeat is how often the node's lease is renewed; 10 s if zero, as the kubelet does.
	Heartbeat time.Duration
	// Backoff is how long the second crash in a row delays a restart, doubled
	// by each further one up to 5 min; 10 s if zero, as the kubelet does. The
	// first crash delays nothing.
	Backoff time.Duration
	// Isolation of the pods' processes; if empty, the best that this machine
	// allows, which is found by trying.
	Isolation Isolation
	// KubeletCA, in PEM, must have signed the client certificate of whoever
	// asks for logs. Without it any process of this machine may read them.
	KubeletCA []byte
	// Clock is what the containers live by; nil: the machine's. One that can't
	// be bent makes it run at speed 1 for good.
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
	services  map[string]string // env of every container

	ctx    context.Context // ends when the node is closed
	cancel context.CancelFunc
	work   sync.WaitGroup
	closed sync.Once

	mu   sync.Mutex
	pods map[types.UID]*pod
}

// Start registers the node and begins to run the pods that are bound to it. It
// returns once the API server has the node; the node lives until Close, not
// until ctx ends.
func Start(ctx context.Context, o Options) (*Node, error) {
	if o.Config == nil || o.Dir == "" || o.Logs == "" {
		return nil, errors.New("starting the host node: Config, Dir and Logs are required")
	}
	o.Config = rest.CopyConfig(o.Config)
	o.Config.QPS = -1 // client-go's limit, five requests a second, makes a busy moment into seconds
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
	if n.services, err = serviceVariables(o.Config.Host); err != nil {
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

// Isolation returns what separates this node's processes from the host's files.
func (n *Node) Isolation() Isolation { return n.isolation }

// Load makes an image available to pods, and returns the name by which
// manifests refer to it: "plumbline.local/<name>:<start of the digest>". The
// reference is one that image.Open understands, or "binary:<path>" for an
// executable of this machine that is run as it is, without a root of its own:
// what remains where images can't run (macOS).
//
// An image is unpacked once; loading it again costs nothing. It is refused at
// once if it does not exist or is for another architecture.
func (n *Node) Load(ctx context.Context, ref string) (string, error) {
	return n.images.load(ctx, ref)
}

// Close ends every process of the node, first with SIGTERM, after two seconds
// or when ctx ends with SIGKILL, and removes the node's folder; logs stay. It
// leaves the API alone: the cluster ends too. It is safe to call twice.
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
