// Command simulator plays the controllers of Cluster API. It speaks the Kubernetes API only. It makes Machines for
// the replicas of MachineDeployments, gives them provider IDs, and lets nodes join for them. Its hooks are served
// over HTTP, as those of every simulator.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

const port = 4570

func main() {
	var management string
	var late time.Duration
	var sameTypes bool
	simulator.Main(simulator.Command{
		About: "Plays the controllers of Cluster API for the MachineDeployments of a management cluster.",
		Port:  port,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&management, "management", os.Getenv("PLUMBLINE_MANAGEMENT"),
				"kubeconfig of the management cluster, by default $PLUMBLINE_MANAGEMENT; empty: the nodes' cluster")
			flags.BoolVar(&sameTypes, "same-types", false, "offer the same instance types in all zones, not some of each")
			flags.DurationVar(&late, "late", 40*time.Second, "how late a Machine appears under the fault lost")
		},
		New: func(b *simulator.Base) (simulator.Cloud, error) {
			api, err := connect(b.Nodes, management)
			if err != nil {
				return simulator.Cloud{}, err
			}
			return start(b, api, offers(sameTypes), late)
		},
	})
}

// connect returns a client of the management cluster. Without a kubeconfig it is the nodes' cluster.
func connect(nodes *simulator.Cluster, kubeconfig string) (dynamic.Interface, error) {
	config := nodes.Config()
	if kubeconfig != "" {
		var err error
		if config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
			return nil, fmt.Errorf("connecting to the management cluster: %w", err)
		}
		config.QPS = -1 // no rate limit, as for nodes
	}
	if config == nil {
		return nil, errors.New("there is no management cluster: give --management, or leave --alone out")
	}
	return dynamic.NewForConfig(config)
}

// start creates the MachineDeployments and starts the controllers.
func start(b *simulator.Base, api dynamic.Interface, all []offer, late time.Duration) (simulator.Cloud, error) {
	c := &controllers{
		api: api, base: b, fleet: simulator.NewFleet[*machine](b), late: late,
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()),
		number: map[types.NamespacedName]int{},
	}
	b.Faults.Know(createCall, provisionCall, deleteCall)
	c.fleet.OnChange(func(m *machine, s simulator.State) { c.entered(b.Context, m, s) })
	if err := createAll(b.Context, api, all); err != nil {
		return simulator.Cloud{}, err
	}
	return simulator.Cloud{
		Handler: http.NotFoundHandler(), Instances: c.fleet, Launches: []string{provisionCall}, Hooks: c.hooks(),
		Reset: c.reset,
	}, c.run(b.Context)
}
