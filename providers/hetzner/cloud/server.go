package cloud

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// server is a Machine: one that runs Talos, whose user data is its machine config.
type server struct {
	cloud          *cloud
	id             int64
	name, location string
	kind           serverType
	image          object
	labels         map[string]string
	networks       []int64
	firewalls      []int64
	group          int64
	userData       string
	created        time.Time
}

func (s *server) Name() string       { return s.name }
func (s *server) ProviderID() string { return "hcloud://" + strconv.FormatInt(s.id, 10) }

// Labels returns what the provider derives from the server's type.
func (s *server) Labels() map[string]string {
	arch := map[string]string{"x86": "amd64", "arm": "arm64"}[s.kind.arch]
	return map[string]string{
		corev1.LabelInstanceTypeStable:          s.kind.name,
		corev1.LabelArchStable:                  arch,
		"karpenter.hetzner.cloud/cpu-type":      s.kind.cpu,
		"karpenter.hetzner.cloud/server-family": strings.TrimRight(s.kind.name, "0123456789"),
	}
}

// Copy returns a server as it stays behind when its NodeClaim is forgotten.
func (s *server) Copy() (*server, error) {
	c := *s
	c.id, c.created = s.cloud.next.Add(1), time.Now()
	c.name = fmt.Sprintf("%s-%d", s.name, c.id)
	return &c, nil
}

// machineConfig is the part of Talos' machine config that its kubelet gets.
type machineConfig struct {
	Machine *struct {
		NodeLabels map[string]string `json:"nodeLabels"`
		NodeTaints map[string]string `json:"nodeTaints"` // value:Effect
		Kubelet    struct {
			ExtraConfig simulator.Kubelet `json:"extraConfig"`
		} `json:"kubelet"`
	} `json:"machine"`
}

// Node returns what Talos' kubelet and Hetzner's cloud controller manager report.
func (s *server) Node() (simulator.Node, error) {
	none := simulator.Node{Name: s.name}
	var config machineConfig
	if err := yaml.Unmarshal([]byte(s.userData), &config); err != nil || config.Machine == nil {
		return none, fmt.Errorf("the user data of %s is no machine config of Talos: %w", s.name, err)
	}
	kubelet := config.Machine.Kubelet.ExtraConfig
	for key, t := range config.Machine.NodeTaints {
		value, effect, _ := strings.Cut(t, ":")
		kubelet.Taints = append(kubelet.Taints,
			corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	kubelet.Labels = config.Machine.NodeLabels
	n, err := kubelet.Node(s.kind.capacity())
	if err != nil {
		return none, err
	}
	n.Name, n.ProviderID = s.name, s.ProviderID()
	n.Labels[corev1.LabelHostname] = s.name
	n.Labels[corev1.LabelOSStable] = "linux"
	n.Labels[corev1.LabelArchStable] = s.Labels()[corev1.LabelArchStable]
	n.Labels[corev1.LabelInstanceTypeStable] = s.kind.name
	n.Labels[corev1.LabelTopologyRegion] = s.location
	// The cloud controller manager names a datacenter, the provider names the location.
	n.Labels[corev1.LabelTopologyZone] = datacenters()[s.location]
	n.Labels["csi.hetzner.cloud/location"] = s.location
	return n, nil
}

// object returns the server as the API shows it.
func (s *server) object(state simulator.State) object {
	status := map[simulator.State]string{
		simulator.Pending: "initializing", simulator.Running: "running", simulator.ShuttingDown: "deleting",
	}[state]
	private, public := []object{}, []object{}
	for _, id := range s.networks {
		private = append(private, object{"network": id, "ip": "10.0.0.2"})
	}
	for _, id := range s.firewalls {
		public = append(public, object{"id": id, "status": "applied"})
	}
	return object{
		"id": s.id, "name": s.name, "status": status, "created": s.created, "labels": s.labels,
		"server_type": s.kind.object(), "location": object{"name": s.location}, "image": s.image,
		"private_net": private, "public_net": object{"firewalls": public},
	}
}

// action returns the creation of the server, or what follows it.
func (s *server) action(nth int64, command string, state simulator.State) object {
	status, progress := "success", 100
	if state == simulator.Pending {
		status, progress = "running", 50
	}
	return object{
		"id": 10*s.id + nth, "command": command, "status": status, "progress": progress, "started": s.created,
		"resources": []object{{"id": s.id, "type": "server"}},
	}
}

func datacenters() map[string]string {
	return map[string]string{"fsn1": "fsn1-dc14", "nbg1": "nbg1-dc3", "hel1": "hel1-dc2"}
}

// serverType is a row of Hetzner's price list. Memory and disk are in GB, the price in EUR for an hour.
type serverType struct {
	id            int64
	name          string
	cores         int64
	memory, disk  int64
	arch, cpu     string
	pricePerMonth float64
}

// serverTypes are listed as the API does, by their IDs: the cheapest is not the first.
func serverTypes() []serverType {
	return []serverType{
		{22, "cpx11", 2, 2, 40, "x86", "shared", 4.35},
		{23, "cpx21", 3, 4, 80, "x86", "shared", 7.55},
		{24, "cpx31", 4, 8, 160, "x86", "shared", 13.60},
		{25, "cpx41", 8, 16, 240, "x86", "shared", 25.20},
		{26, "cpx51", 16, 32, 360, "x86", "shared", 54.90},
		{45, "cax11", 2, 4, 40, "arm", "shared", 3.79},
		{93, "cax21", 4, 8, 80, "arm", "shared", 6.49},
		{94, "cax31", 8, 16, 160, "arm", "shared", 12.49},
		{95, "cax41", 16, 32, 320, "arm", "shared", 24.49},
		{96, "ccx13", 2, 8, 80, "x86", "dedicated", 12.49},
		{97, "ccx23", 4, 16, 160, "x86", "dedicated", 24.49},
		{98, "ccx33", 8, 32, 240, "x86", "dedicated", 48.49},
		{99, "ccx43", 16, 64, 360, "x86", "dedicated", 96.49},
		{100, "ccx53", 32, 128, 600, "x86", "dedicated", 192.49},
		{104, "cx22", 2, 4, 40, "x86", "shared", 3.79},
		{105, "cx32", 4, 8, 80, "x86", "shared", 6.80},
		{106, "cx42", 8, 16, 160, "x86", "shared", 16.40},
		{107, "cx52", 16, 32, 320, "x86", "shared", 32.40},
	}
}

// capacity returns what a kubelet finds. The kernel of a server of 4 GB sees 3814 MiB.
func (t serverType) capacity() corev1.ResourceList {
	const gb = 1_000_000_000
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(t.cores, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(t.memory*gb, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(t.disk*gb, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
	}
}

// object returns the type as the API shows it.
func (t serverType) object() object {
	price := func(hours float64) object {
		net := strconv.FormatFloat(t.pricePerMonth/hours, 'f', 10, 64)
		return object{"net": net, "gross": net}
	}
	prices := []object{}
	for _, location := range []string{"fsn1", "nbg1", "hel1"} {
		prices = append(prices, object{"location": location, "price_hourly": price(624), "price_monthly": price(1)})
	}
	return object{
		"id": t.id, "name": t.name, "cores": t.cores, "memory": t.memory, "disk": t.disk, "architecture": t.arch,
		"cpu_type": t.cpu, "prices": prices,
	}
}
