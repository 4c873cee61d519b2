package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// vm is a virtual machine or a template.
type vm struct {
	id               int
	host             string
	options          map[string]string // as in its configuration file
	created, ended   time.Time
	started, stopped bool
}

// cloning is how long a clone of a template takes. The clone is locked as long.
const cloning = time.Second

func (v *vm) isTemplate() bool { return v.options["template"] != "" }
func (v *vm) locked() bool     { return time.Since(v.created) < cloning }

// number returns an option that is a number, or 0.
func (v *vm) number(option string) int {
	n, _ := strconv.Atoi(v.options[option])
	return n
}

func (v *vm) power() string {
	if v.started && !v.stopped {
		return "running"
	}
	return "stopped"
}

func (c *cloud) status(v *vm, _ map[string]string) (any, error) {
	s := map[string]any{
		"vmid": v.id, "name": v.options["name"], "status": v.power(), "qmpstatus": v.power(), "tags": v.options["tags"],
		"cpus": v.number("cores"), "maxmem": v.number("memory") << 20,
	}
	if v.isTemplate() {
		s["template"] = 1
	}
	return s, nil
}

func (c *cloud) config(v *vm, _ map[string]string) (any, error) {
	config := map[string]any{"digest": ""}
	for name, value := range v.options {
		config[name] = value
		if slices.Contains([]string{"cores", "template"}, name) {
			config[name] = v.number(name)
		}
	}
	return config, nil
}

// errLocked refuses what a VM can't do while it is cloned.
var errLocked = errors.New("VM is locked (clone)")

func (c *cloud) configure(v *vm, options map[string]string) (any, error) {
	if v.locked() {
		return nil, errLocked
	}
	maps.Copy(v.options, options)
	return c.newTask(v.host, "qmconfig", v.id, done), nil
}

func (c *cloud) resize(v *vm, p map[string]string) (any, error) {
	disk, _, _ := strings.Cut(v.options[p["disk"]], ",")
	v.options[p["disk"]] = disk + ",size=" + p["size"]
	return c.newTask(v.host, "resize", v.id, done), nil
}

func (c *cloud) clone(v *vm, p map[string]string) (any, error) {
	id, err := strconv.Atoi(p["newid"])
	if err != nil {
		return nil, refusal{http.StatusBadRequest, "newid: " + err.Error()}
	}
	if c.vms[id] != nil {
		return nil, fmt.Errorf("unable to create VM %d: config file already exists", id)
	}
	options := maps.Clone(v.options)
	delete(options, "template")
	options["name"], options["description"] = p["name"], p["description"]
	copied := &vm{id: id, host: v.host, options: options, created: time.Now()}
	c.vms[id] = copied
	return c.newTask(v.host, "qmclone", v.id, func() string {
		if copied.locked() {
			return ""
		}
		return "OK"
	}), nil
}

func (c *cloud) start(v *vm, _ map[string]string) (any, error) {
	m, err := c.boot(v)
	if v.locked() || v.started || err != nil {
		return nil, fmt.Errorf("VM %d can't start: locked %t, started before %t: %w", v.id, v.locked(), v.started, err)
	}
	if c.base.Faults.Shortage(simulator.Offering{Type: m.kind, Zone: v.host, CapacityType: "on-demand"}) {
		return c.newTask(v.host, "qmstart", v.id, func() string { return "start failed: Cannot allocate memory" }), nil
	}
	v.started = true
	if err := c.fleet.Launch(m); err != nil {
		return nil, err
	}
	return c.newTask(v.host, "qmstart", v.id, func() string {
		if _, state, _ := c.fleet.Get(m.Name()); state == simulator.Pending {
			return ""
		}
		return "OK"
	}), nil
}

func (c *cloud) stop(v *vm, _ map[string]string) (any, error) {
	v.stopped = true
	return c.newTask(v.host, "qmstop", v.id, done), nil
}

func (c *cloud) destroy(v *vm, _ map[string]string) (any, error) {
	switch {
	case v.locked():
		return nil, errLocked
	case v.power() == "running":
		return nil, fmt.Errorf("VM %d is running - destroy failed", v.id)
	case v.started:
		c.fleet.Terminate(strconv.Itoa(v.id))
	default:
		delete(c.vms, v.id)
	}
	return c.newTask(v.host, "qmdestroy", v.id, func() string {
		if c.vms[v.id] == v {
			return ""
		}
		return "OK"
	}), nil
}

// machine is a started VM.
type machine struct {
	id         int
	host, name string
	kind       string // instance type
	kubelet    simulator.Kubelet
	capacity   corev1.ResourceList
}

// boot reads what a VM starts with.
func (c *cloud) boot(v *vm) (machine, error) {
	m := machine{id: v.id, host: v.host, name: v.options["name"]}
	for field := range strings.SplitSeq(v.options["smbios1"], ",") {
		if sku, is := strings.CutPrefix(field, "sku="); is {
			kind, err := base64.StdEncoding.DecodeString(sku)
			if err != nil {
				return m, fmt.Errorf("smbios1 %s: %w", field, err)
			}
			m.kind = string(kind)
		}
	}
	volume, _, _ := strings.Cut(v.options["ide2"], ",")
	var err error
	if m.kubelet, err = readISO(c.isos[v.host+"/"+volume]); err != nil {
		return m, fmt.Errorf("cloud-init: %w", err)
	}
	m.kubelet.Labels = map[string]string{
		corev1.LabelHostname: m.name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		// The cloud controller manager's.
		corev1.LabelInstanceTypeStable: m.kind, corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: m.host,
	}
	_, size, _ := strings.Cut(v.options["scsi0"], ",size=")
	disk, err := resource.ParseQuantity(size + "i")
	m.capacity = corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(v.number("cores")), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(v.number("memory"))<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: disk,
	}
	return m, err
}

// readISO returns the kubelet's configuration from a cloud-init image with the provider's default user data. Files in
// an ISO image are not in pieces.
func readISO(iso []byte) (k simulator.Kubelet, err error) {
	var file struct {
		Kubernetes struct{ KubeletConfiguration *simulator.Kubelet }
	}
	file.Kubernetes.KubeletConfiguration = &k
	var userData struct {
		Files []struct{ Path, Content string } `json:"write_files"`
	}
	_, text, found := bytes.Cut(iso, []byte("#cloud-config\n"))
	if !found {
		return k, errors.New("the VM has no image with user data")
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	if err := yaml.Unmarshal(text, &userData); err != nil {
		return k, err
	}
	for _, f := range userData.Files {
		if f.Path == "/etc/karpenter.yaml" {
			err := yaml.Unmarshal([]byte(f.Content), &file)
			return k, err
		}
	}
	return k, errors.New("the user data has no file /etc/karpenter.yaml")
}

func providerID(id int) string { return fmt.Sprintf("proxmox://%s/%d", region, id) }

// Name returns the VM's ID, since a NodeClaim's second VM has the same name as the first.
func (m machine) Name() string { return strconv.Itoa(m.id) }

// ProviderID returns the provider ID of the node.
func (m machine) ProviderID() string { return providerID(m.id) }

// Node returns the node that the VM registers.
func (m machine) Node() (simulator.Node, error) {
	n, err := m.kubelet.Node(m.capacity)
	n.Name, n.ProviderID = m.name, m.ProviderID()
	return n, err
}

// Labels returns the labels of the VM's instance type.
func (m machine) Labels() map[string]string {
	family, _, _ := strings.Cut(m.kind, ".")
	return map[string]string{
		corev1.LabelInstanceTypeStable: m.kind, "karpenter.proxmox.sinextra.dev/instance-family": family,
	}
}
