package local

import (
	"fmt"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// Names of the components, as in kwokctl and in the names of their logs and pid files.
const (
	etcd              = "etcd"
	apiserver         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwokController    = "kwok-controller"
)

// components returns the components, dependencies first.
func components() []string {
	return []string{etcd, apiserver, controllerManager, scheduler, kwokController}
}

// etcdPeer names etcd's second port.
const etcdPeer = "etcd peer"

// programs holds the folders of the binaries.
type programs struct {
	kubernetes, etcd, kwok string
	starter                string // see package launch; a file, not a folder
}

// allocate takes a port for each listener.
func allocate(p *ports) (map[string]int, error) {
	taken := map[string]int{}
	for _, name := range append(components(), etcdPeer) {
		port, err := p.take()
		if err != nil {
			return nil, err
		}
		taken[name] = port
	}
	return taken, nil
}

// patch is an entry of kwokctl's componentsPatches.
type patch struct {
	Name      string     `json:"name"`
	ExtraArgs []argument `json:"extraArgs,omitempty"`
	ExtraEnvs []variable `json:"extraEnvs,omitempty"`
}

type argument struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// kept is the API server's etcd-compaction-interval with a bent clock. It is longer than any
// spec without leaps, which may see no events. To keep all revisions would fill the disk.
const kept = time.Hour

// heartbeat is how often KWOK writes the status of its nodes, beside their leases: never. A
// heartbeat that was due would say that a node is ready whose kubelet a spec has silenced.
const heartbeat = 10 * 365 * 24 * time.Hour

// serviceAddresses holds the addresses of Services. No kube-proxy plays them. All of 127.0.0.0/8 is this
// machine on Linux, so that at a Service's address and port whatever pod listens on that port of all
// addresses answers. So the API server reaches a provider's webhooks, if their Service has the port of
// their pod. macOS has 127.0.0.1 alone: there it reaches none.
const serviceAddresses = "127.96.0.0/16"

// patches returns component settings that kwokctl has no option for. Their arguments follow
// kwokctl's own, and the last one wins. pki is the folder of kwokctl's certificates. Of the
// options, only Leaps, Clock and Bare are used.
func patches(pki string, o cluster.Options) []patch {
	fake := "kwok.x-k8s.io/node=fake"
	if o.Bare {
		fake = "kwok.x-k8s.io/node=none" // kwokctl starts it anyway
	}
	manager := []argument{
		{"leader-elect", "false"},
		// Pods have a loopback address, which endpoints refuse: these would always fail.
		{"controllers", "*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller"},
	}
	server := []argument{
		// By default the API server has the address of the default route, and fails to start
		// offline. It is for this machine only. Endpoints can't have a loopback address.
		{"advertise-address", "127.0.0.1"},
		{"endpoint-reconciler-type", "none"},
		{"service-cluster-ip-range", serviceAddresses},
		// The host node authenticates requests for pod logs by this certificate.
		{"kubelet-client-certificate", filepath.Join(pki, "admin.crt")},
		{"kubelet-client-key", filepath.Join(pki, "admin.key")},
	}
	// With a bent clock, watches end now and then, and at each leap. They resume from their
	// last event. After some quiet minutes it is older than the API server's default
	// compaction interval, five minutes.
	switch {
	case o.Leaps:
		manager = append(manager, argument{"node-monitor-grace-period", (2 * cluster.Leap).String()})
		server = append(server, argument{"etcd-compaction-interval", "0"})
	case o.Clock != nil:
		server = append(server, argument{"etcd-compaction-interval", kept.String()})
	}
	// These do little, but often. With a thread per core they spend most of their time waking
	// other threads. That is a tenth of all that a cluster takes.
	alone := []variable{{"GOMAXPROCS", "1"}}
	var together []variable
	if o.Clock != nil {
		// With a bent clock only computing takes time, and a tenth of it would be garbage
		// collection. This takes 130 MB, nearly all in the API server.
		spend := variable{"GOGC", "300"}
		alone, together = append(alone, spend), []variable{spend}
	}
	return []patch{
		{Name: etcd, ExtraEnvs: alone, ExtraArgs: []argument{
			// No data needs to survive the machine's failure. etcd would mostly wait for the
			// disk.
			{"unsafe-no-fsync", "true"},
		}},
		{Name: apiserver, ExtraEnvs: together, ExtraArgs: server},
		// There is one of each. With leader election they exit after a stall of a few seconds,
		// and nothing restarts them.
		{Name: controllerManager, ExtraEnvs: alone, ExtraArgs: manager},
		{Name: scheduler, ExtraEnvs: alone, ExtraArgs: []argument{{"leader-elect", "false"}}},
		// By default KWOK takes over every node. A KwokConfiguration can't change that: it
		// contradicts kwokctl's own flag, and KWOK exits.
		{Name: kwokController, ExtraEnvs: alone, ExtraArgs: []argument{
			{"manage-all-nodes", "false"},
			{"manage-nodes-with-annotation-selector", fake},
			{"manage-nodes-with-label-selector", "!plumbline.test/silent"}, // of simulated instances that have ended
		}},
	}
}

// kwokctlConfig returns kwokctl's configuration; see KwokctlConfigurationOptions of
// sigs.k8s.io/kwok/pkg/apis/config/v1alpha1.
func kwokctlConfig(version, pki string, bin programs, taken map[string]int, o cluster.Options) ([]byte, error) {
	doc := map[string]any{
		"kind":       "KwokctlConfiguration",
		"apiVersion": "config.kwok.x-k8s.io/v1alpha1",
		"options": map[string]any{
			"runtime":     "binary",
			"kubeVersion": version,
			"bindAddress": "127.0.0.1", // kwokctl's default is all interfaces
			// The provider should wait for the cluster's state, not for throttling.
			"disableQPSLimits": true,

			"nodeStatusUpdateFrequencyMilliseconds": heartbeat.Milliseconds(),

			"etcdBinary":                  filepath.Join(bin.etcd, "etcd"),
			"kubeApiserverBinary":         filepath.Join(bin.kubernetes, "kube-apiserver"),
			"kubeControllerManagerBinary": filepath.Join(bin.kubernetes, "kube-controller-manager"),
			"kubeSchedulerBinary":         filepath.Join(bin.kubernetes, "kube-scheduler"),
			"kwokControllerBinary":        filepath.Join(bin.kwok, "kwok"),

			"etcdPort":                  taken[etcd],
			"etcdPeerPort":              taken[etcdPeer],
			"kubeApiserverPort":         taken[apiserver],
			"kubeControllerManagerPort": taken[controllerManager],
			"kubeSchedulerPort":         taken[scheduler],
			"kwokControllerPort":        taken[kwokController],
		},
		"componentsPatches": patches(pki, o),
	}
	out, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("kwokctl's configuration: %w", err)
	}
	return out, nil
}
