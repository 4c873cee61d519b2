package local

import (
	"fmt"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// Names of the components, as kwokctl calls them: their logs and pid files are
// named so too.
const (
	etcd              = "etcd"
	apiserver         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwokController    = "kwok-controller"
)

// components in the order in which they depend on each other.
func components() []string {
	return []string{etcd, apiserver, controllerManager, scheduler, kwokController}
}

// etcdPeer names the second port of etcd.
const etcdPeer = "etcd peer"

// programs are the folders of the binaries.
type programs struct {
	kubernetes, etcd, kwok string
}

// allocate takes a port for everything that listens.
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

// kept is how long events are kept at least where time is bent: longer than any spec
// takes that doesn't leap, in which nothing may happen. All of them would fill the disk.
const kept = time.Hour

// patches returns the components' arguments that kwokctl has no option for. They
// come after kwokctl's own, and the later one counts. Pki is the folder of
// kwokctl's certificates; of the options Leaps, Clock and Bare count.
func patches(pki string, o cluster.Options) []patch {
	fake := "kwok.x-k8s.io/node=fake"
	if o.Bare {
		fake = "kwok.x-k8s.io/node=none" // kwokctl starts it anyway
	}
	manager := []argument{
		{"leader-elect", "false"},
		// Pods have the address of the loopback, which endpoints refuse: these
		// would only fail, over and over.
		{"controllers", "*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller"},
	}
	server := []argument{
		// Without an address the API server takes that of the default route, and
		// doesn't start on a machine that is offline. Nobody is to reach it from
		// elsewhere; an endpoint of its service may not be a loopback address.
		{"advertise-address", "127.0.0.1"},
		{"endpoint-reconciler-type", "none"},
		// By which the host node knows who asks it for the logs of its pods.
		{"kubelet-client-certificate", filepath.Join(pki, "admin.crt")},
		{"kubelet-client-key", filepath.Join(pki, "admin.key")},
	}
	// Watches end now and then where time is bent, and at each leap. They go on from
	// the last event that they saw, which after some quiet minutes is older than the
	// five minutes for which the API server has events kept otherwise.
	switch {
	case o.Leaps:
		manager = append(manager, argument{"node-monitor-grace-period", (2 * cluster.Leap).String()})
		server = append(server, argument{"etcd-compaction-interval", "0"})
	case o.Clock != nil:
		server = append(server, argument{"etcd-compaction-interval", kept.String()})
	}
	// These have little to do, and often: with a thread for each core most of their time
	// goes into waking the others up to look for work. It is a tenth of all that a
	// cluster takes.
	alone := []variable{{"GOMAXPROCS", "1"}}
	var together []variable
	if o.Clock != nil {
		// Where time is bent nobody waits for anything but computing, of which a tenth
		// would be collecting garbage. It takes 130 MB, nearly all the API server's.
		spend := variable{"GOGC", "300"}
		alone, together = append(alone, spend), []variable{spend}
	}
	return []patch{
		{Name: etcd, ExtraEnvs: alone, ExtraArgs: []argument{
			// Nothing is to survive the machine's failure; waiting for the disk is
			// most of what etcd does otherwise.
			{"unsafe-no-fsync", "true"},
		}},
		{Name: apiserver, ExtraEnvs: together, ExtraArgs: server},
		// There is one of each. With election on, a stall of a few seconds makes
		// them exit, and nothing starts them again.
		{Name: controllerManager, ExtraEnvs: alone, ExtraArgs: manager},
		{Name: scheduler, ExtraEnvs: alone, ExtraArgs: []argument{{"leader-elect", "false"}}},
		// KWOK takes over every node unless told otherwise. A KwokConfiguration
		// can't tell it: that contradicts kwokctl's own flag, and KWOK exits.
		{Name: kwokController, ExtraEnvs: alone, ExtraArgs: []argument{
			{"manage-all-nodes", "false"},
			{"manage-nodes-with-annotation-selector", fake},
		}},
	}
}

// kwokctlConfig returns the document that tells kwokctl what to run; see
// KwokctlConfigurationOptions of sigs.k8s.io/kwok/pkg/apis/config/v1alpha1.
func kwokctlConfig(version, pki string, bin programs, taken map[string]int, o cluster.Options) ([]byte, error) {
	doc := map[string]any{
		"kind":       "KwokctlConfiguration",
		"apiVersion": "config.kwok.x-k8s.io/v1alpha1",
		"options": map[string]any{
			"runtime":     "binary",
			"kubeVersion": version,
			"bindAddress": "127.0.0.1", // kwokctl's default is all interfaces
			// What the provider waits for shall be the cluster's state, not its
			// client's or the server's throttling.
			"disableQPSLimits": true,

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
