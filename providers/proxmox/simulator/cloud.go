package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// The cluster is one region, and its hosts are the zones. Each host has a template, a storage for disks and one for
// ISO images.
const (
	region = "plumbline"
	cpus   = 512     // of a host
	memory = 4 << 40 // of a host, in bytes

	firstTemplate = 9000       // the ID of the first host's template
	firstImage    = 1750000000 // when it was created, in seconds since 1970
)

var (
	hosts    = []string{"pve-1", "pve-2", "pve-3"}
	storages = []map[string]any{
		{"storage": "system", "content": "images,rootdir", "plugintype": "zfspool", "enabled": 1},
		{"storage": "local", "content": "iso,vztmpl,import", "plugintype": "dir", "enabled": 1},
	}
)

// cloud is a Proxmox VE cluster. A VM is prepared when it is cloned, and launched when it starts.
type cloud struct {
	*simulator.Fleet[*vm]
	base *simulator.Base

	mu        sync.Mutex
	images    int                      // installed so far
	templates map[string]*vm           // by ID
	given     map[string]bool          // the IDs that no other VM gets
	isos      map[string][]byte        // by host/volume
	tasks     map[string]func() string // their exit status, by ID
}

func newCloud(b *simulator.Base) *cloud {
	c := &cloud{
		Fleet: simulator.NewFleet[*vm](b), base: b,
		templates: map[string]*vm{}, given: map[string]bool{}, isos: map[string][]byte{}, tasks: map[string]func() string{},
	}
	c.install()
	return c
}

// install installs each host's template again, from a new image. The provider knows an image by the option meta.
// Nothing brings an old one back: the provider would find it within five minutes, and the next spec's nodes drift.
func (c *cloud) install() {
	c.mu.Lock()
	defer c.mu.Unlock()
	image := fmt.Sprintf("creation-qemu=10.0.0,ctime=%d", firstImage+c.images)
	c.images++
	for n, host := range hosts {
		id := strconv.Itoa(firstTemplate + n)
		c.templates[id] = &vm{id: id, host: host, options: map[string]string{
			"name": "debian", "template": "1", "meta": image, "cores": "1", "memory": "1024", "boot": "order=scsi0",
			"scsi0": "system:base-" + id + "-disk-0,size=3G", "ipconfig0": "ip=dhcp",
			"net0": "virtio=BC:24:11:00:00:00,bridge=vmbr0", "smbios1": "uuid=00000000-0000-0000-0000-000000000000",
		}}
	}
}

// find returns the VM or the template of an ID, or nil.
func (c *cloud) find(id string) *vm {
	if v := c.templates[id]; v != nil {
		return v
	}
	v, _, _ := c.Get(id)
	return v
}

func (c *cloud) listResources(r *http.Request) (any, error) {
	kind, all := r.FormValue("type"), []map[string]any{}
	add := func(host string, o map[string]any) {
		o["type"], o["node"] = kind, host
		all = append(all, o)
	}
	if kind == "vm" {
		kind = "qemu"
		for _, v := range c.templates {
			add(v.host, v.summary(simulator.Prepared))
		}
		for _, e := range c.Listed() {
			add(e.Instance.host, e.Instance.summary(e.State))
		}
		return all, nil
	}
	for _, host := range hosts {
		if kind == "node" {
			add(host, map[string]any{"status": "online", "maxcpu": cpus, "maxmem": memory, "cpu": c.load(host)})
			continue
		}
		for _, s := range storages {
			s = maps.Clone(s)
			s["status"] = "available"
			add(host, s)
		}
	}
	return all, nil
}

// load returns the part of a host's CPUs that its running VMs have.
func (c *cloud) load(host string) float64 {
	used := 0
	for _, e := range c.Living() {
		if e.Instance.host == host && e.Instance.power(e.State) == running {
			used += e.Instance.number("cores")
		}
	}
	return float64(used) / cpus
}

func (c *cloud) showHost(*http.Request) (any, error) {
	return map[string]any{
		"cpuinfo": map[string]any{"model": "Intel Xeon", "cpus": cpus, "cores": cpus / 2, "sockets": 2},
		"memory":  map[string]any{"total": memory},
	}, nil
}

func (c *cloud) listBridges(*http.Request) (any, error) {
	return []map[string]any{{"iface": "vmbr0", "active": 1}}, nil
}

func (c *cloud) listStorages(*http.Request) (any, error) { return storages, nil }

// checkID asserts that a VM's ID is free. An ID is given once, though a real cluster gives it again: Karpenter could
// take a node for an earlier one of its ID. See "a command without its NodeClaim" in suites/findings.md.
func (c *cloud) checkID(r *http.Request) (any, error) {
	id := r.FormValue("vmid")
	if _, err := strconv.Atoi(id); err != nil || c.given[id] || c.find(id) != nil {
		return nil, simulator.Errorf(http.StatusBadRequest, "", "VM %s already exists", id)
	}
	return id, nil
}

// freeIDs lets the IDs of deleted VMs be given again.
func (c *cloud) freeIDs() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.given)
}

func (c *cloud) upload(r *http.Request) (any, error) {
	file, header, err := r.FormFile("filename")
	if err != nil {
		return nil, simulator.Errorf(http.StatusBadRequest, "", "%v", err)
	}
	defer func() { _ = file.Close() }()
	iso := make([]byte, header.Size)
	if _, err := file.ReadAt(iso, 0); err != nil {
		return nil, err
	}
	host := r.PathValue("host")
	c.isos[fmt.Sprintf("%s/%s:iso/%s", host, r.PathValue("storage"), header.Filename)] = iso
	return c.newTask(host, "imgcopy", done), nil
}

// volume shows or deletes an ISO image.
func (c *cloud) volume(r *http.Request) (any, error) {
	host, name := r.PathValue("host"), r.PathValue("volume")
	iso, there := c.isos[host+"/"+name]
	if !there {
		return nil, errors.New("volume does not exist")
	}
	if r.Method == http.MethodDelete {
		delete(c.isos, host+"/"+name)
		return c.newTask(host, "imgdel", done), nil
	}
	return map[string]any{"path": "/var/lib/vz/" + name, "size": len(iso), "format": "iso"}, nil
}
