package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
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
	options          map[string]string // of its configuration file
	created          time.Time
	started, stopped bool
}

// cloning is how long a clone of a template takes. The clone is locked as long.
const cloning = time.Second

func (v *vm) isTemplate() bool { return v.options["template"] != "" }
func (v *vm) locked() bool     { return time.Since(v.created) < cloning }
func (v *vm) key() string      { return strconv.Itoa(v.id) }

// ProviderID returns the provider ID of the VM's node.
func (v *vm) ProviderID() string { return "proxmox://" + region + "/" + v.key() }

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

// summary returns what lists show of a VM.
func (v *vm) summary() map[string]any {
	return map[string]any{
		"vmid": v.id, "name": v.options["name"], "status": v.power(), "tags": v.options["tags"],
		"template": v.number("template"), "maxcpu": v.number("cores"), "maxmem": v.number("memory") << 20,
	}
}

func (c *cloud) status(v *vm, _ map[string]string) (any, error) {
	s := v.summary()
	s["cpus"], s["qmpstatus"] = s["maxcpu"], s["status"]
	if !v.isTemplate() {
		delete(s, "template")
	}
	return s, nil
}

func (c *cloud) config(v *vm, _ map[string]string) (any, error) {
	config := map[string]any{}
	for name, value := range v.options {
		config[name] = value
	}
	config["cores"], config["template"] = v.number("cores"), v.number("template")
	return config, nil
}

// errLocked refuses what a VM can't do while it is cloned.
var errLocked = errors.New("VM is locked (clone)")

func (c *cloud) configure(v *vm, options map[string]string) (any, error) {
	if v.locked() {
		return nil, errLocked
	}
	maps.Copy(v.options, options)
	return c.newTask(v.host, "qmconfig", done), nil
}

func (c *cloud) resize(v *vm, p map[string]string) (any, error) {
	disk, _, _ := strings.Cut(v.options[p["disk"]], ",")
	v.options[p["disk"]] = disk + ",size=" + p["size"]
	return c.newTask(v.host, "resize", done), nil
}

func (c *cloud) clone(v *vm, p map[string]string) (any, error) {
	id, err := strconv.Atoi(p["newid"])
	if err != nil || c.vms[id] != nil {
		return nil, fmt.Errorf("unable to create VM %s: config file already exists", p["newid"])
	}
	options := maps.Clone(v.options)
	delete(options, "template")
	options["name"] = p["name"]
	copied := &vm{id: id, host: v.host, options: options, created: time.Now()}
	c.vms[id] = copied
	return c.newTask(v.host, "qmclone", func() string {
		if copied.locked() {
			return ""
		}
		return "OK"
	}), nil
}

// start starts a VM. A host without memory for it accepts the call, and the task fails.
func (c *cloud) start(v *vm, _ map[string]string) (any, error) {
	if v.locked() || v.started {
		return nil, errLocked
	}
	m, err := c.boot(v)
	if err != nil {
		return nil, err
	}
	if c.base.Faults.Shortage(simulator.Offering{Type: m.kind, Zone: v.host, CapacityType: "on-demand"}) {
		return c.newTask(v.host, "qmstart", func() string { return "start failed: Cannot allocate memory" }), nil
	}
	v.started = true
	return c.newTask(v.host, "qmstart", func() string {
		if _, state, _ := c.Get(v.key()); state == simulator.Pending {
			return ""
		}
		return "OK"
	}), c.Launch(m)
}

func (c *cloud) stop(v *vm, _ map[string]string) (any, error) {
	v.stopped = true
	return c.newTask(v.host, "qmstop", done), nil
}

func (c *cloud) destroy(v *vm, _ map[string]string) (any, error) {
	switch {
	case v.locked():
		return nil, errLocked
	case v.power() == "running":
		return nil, errors.New("VM is running - destroy failed")
	case v.started:
		c.Terminate(v.key())
	default:
		delete(c.vms, v.id)
	}
	return c.newTask(v.host, "qmdestroy", func() string {
		if c.vms[v.id] == v {
			return ""
		}
		return "OK"
	}), nil
}

// machine is a started VM.
type machine struct {
	*vm
	name     string // of the node
	kind     string // instance type
	kubelet  simulator.Kubelet
	capacity corev1.ResourceList
}

// Name returns the VM's ID, since the VMs of a NodeClaim have one name.
func (m machine) Name() string { return m.key() }

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

// boot reads what a VM starts with.
func (c *cloud) boot(v *vm) (m machine, err error) {
	m.vm, m.name = v, v.options["name"]
	_, sku, _ := strings.Cut(v.options["smbios1"], "sku=")
	sku, _, _ = strings.Cut(sku, ",")
	kind, err := base64.StdEncoding.DecodeString(sku)
	if err != nil {
		return m, fmt.Errorf("smbios1: %w", err)
	}
	m.kind = string(kind)
	image, _, _ := strings.Cut(v.options["ide2"], ",")
	if m.kubelet, err = readISO(c.isos[v.host+"/"+image]); err != nil {
		return m, fmt.Errorf("cloud-init: %w", err)
	}
	m.kubelet.Labels = map[string]string{
		corev1.LabelHostname: m.name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		// The cloud controller manager's.
		corev1.LabelInstanceTypeStable: m.kind, corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: v.host,
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
	var userData struct {
		Files []struct{ Path, Content string } `json:"write_files"`
	}
	file := struct {
		Kubernetes struct{ KubeletConfiguration *simulator.Kubelet }
	}{}
	file.Kubernetes.KubeletConfiguration = &k
	_, text, _ := bytes.Cut(iso, []byte("#cloud-config\n"))
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
	return k, errors.New("the VM has no image with a file /etc/karpenter.yaml")
}
