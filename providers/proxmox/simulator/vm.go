package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
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
	id, host string
	options  map[string]string // of its configuration file
	created  time.Time
	stopped  bool
	kind     string // instance type, once it has started
	iso      []byte // cloud-init image, once it has started
}

// cloning is how long a clone of a template takes. The clone is locked as long.
const cloning = time.Second

func (v *vm) locked() bool { return time.Since(v.created) < cloning }

// Name returns the VM's ID, since the VMs of a NodeClaim have one name.
func (v *vm) Name() string { return v.id }

// ProviderID returns the provider ID of the VM's node.
func (v *vm) ProviderID() string { return "proxmox://" + region + "/" + v.id }

// number returns an option that is a number, or 0.
func (v *vm) number(option string) int {
	n, _ := strconv.Atoi(v.options[option])
	return n
}

// running is the power of a VM that runs.
const running = "running"

func (v *vm) power(s simulator.State) string {
	if !v.stopped && (s == simulator.Pending || s == simulator.Running) {
		return running
	}
	return "stopped"
}

// summary returns what lists show of a VM in a state.
func (v *vm) summary(s simulator.State) map[string]any {
	return map[string]any{
		"vmid": json.Number(v.id), "name": v.options["name"], "status": v.power(s), "tags": v.options["tags"],
		"template": v.number("template"), "maxcpu": v.number("cores"), "maxmem": v.number("memory") << 20,
	}
}

// state returns a VM's state. Templates are never started.
func (c *cloud) state(v *vm) simulator.State {
	if _, s, there := c.Get(v.id); there {
		return s
	}
	return simulator.Prepared
}

func (c *cloud) status(v *vm, _ map[string]string) (any, error) {
	s := v.summary(c.state(v))
	s["cpus"], s["qmpstatus"] = s["maxcpu"], s["status"]
	if v.options["template"] == "" {
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
	copied := &vm{id: p["newid"], host: v.host, options: maps.Clone(v.options), created: time.Now()}
	delete(copied.options, "template")
	copied.options["name"] = p["name"]
	if c.find(copied.id) != nil || c.Prepare(copied) != nil {
		return nil, fmt.Errorf("unable to create VM %s: config file already exists", copied.id)
	}
	c.given[copied.id] = true
	return c.newTask(v.host, "qmclone", func() string { return okIf(!copied.locked()) }), nil
}

// start starts a VM. A host without memory for it accepts the call, and the task fails.
func (c *cloud) start(v *vm, _ map[string]string) (any, error) {
	if v.locked() || c.state(v) != simulator.Prepared {
		return nil, errLocked
	}
	_, sku, _ := strings.Cut(v.options["smbios1"], "sku=")
	sku, _, _ = strings.Cut(sku, ",")
	kind, err := base64.StdEncoding.DecodeString(sku)
	if err != nil {
		return nil, fmt.Errorf("smbios1: %w", err)
	}
	image, _, _ := strings.Cut(v.options["ide2"], ",")
	v.kind, v.iso = string(kind), c.isos[v.host+"/"+image]
	offering := simulator.Offering{Type: v.kind, Zone: v.host, CapacityType: "on-demand"}
	if c.base.Faults.ShortageFor(v.options["name"], offering) {
		return c.newTask(v.host, "qmstart", func() string { return "start failed: Cannot allocate memory" }), nil
	}
	return c.newTask(v.host, "qmstart", func() string { return okIf(c.state(v) != simulator.Pending) }), c.Launch(v)
}

func (c *cloud) stop(v *vm, _ map[string]string) (any, error) {
	v.stopped = true
	return c.newTask(v.host, "qmstop", done), nil
}

func (c *cloud) destroy(v *vm, _ map[string]string) (any, error) {
	switch {
	case v.locked():
		return nil, errLocked
	case v.power(c.state(v)) == running:
		return nil, errors.New("VM is running - destroy failed")
	}
	c.Terminate(v.id)
	return c.newTask(v.host, "qmdestroy", func() string { return okIf(c.find(v.id) != v) }), nil
}

// Labels returns the labels of the VM's instance type.
func (v *vm) Labels() map[string]string {
	family, _, _ := strings.Cut(v.kind, ".")
	return map[string]string{
		corev1.LabelInstanceTypeStable: v.kind, "karpenter.proxmox.sinextra.dev/instance-family": family,
	}
}

// Node returns the node that the VM registers.
func (v *vm) Node() (simulator.Node, error) {
	name := v.options["name"]
	kubelet, err := readISO(v.iso)
	if err != nil {
		return simulator.Node{Name: name}, fmt.Errorf("cloud-init: %w", err)
	}
	kubelet.Labels = map[string]string{
		corev1.LabelHostname: name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		// The cloud controller manager's.
		corev1.LabelInstanceTypeStable: v.kind, corev1.LabelTopologyRegion: region, corev1.LabelTopologyZone: v.host,
	}
	_, size, _ := strings.Cut(v.options["scsi0"], ",size=")
	disk, err := resource.ParseQuantity(size + "i")
	if err != nil {
		return simulator.Node{Name: name}, fmt.Errorf("scsi0: %w", err)
	}
	n, err := kubelet.Node(corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(v.number("cores")), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(v.number("memory"))<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: disk,
	})
	n.Name, n.ProviderID = name, v.ProviderID()
	return n, err
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
