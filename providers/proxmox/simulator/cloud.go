package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// The cluster is one region, and its hosts are the zones. Each host has a template, the storage system for disks and
// the storage local for ISO images.
const (
	region    = "plumbline"
	cpus      = 512     // of a host
	memory    = 4 << 40 // of a host, in bytes
	disks     = "system"
	templates = 9000 // the ID of the first host's template

	firstImage  = "creation-qemu=9.2.0,ctime=1750000000"
	secondImage = "creation-qemu=10.0.0,ctime=1760000000"
)

var hosts = []string{"pve-1", "pve-2", "pve-3"} //nolint:gochecknoglobals // a table

// cloud is a Proxmox VE cluster. The fleet has the VMs that have been started.
type cloud struct {
	base  *simulator.Base
	fleet *simulator.Fleet[machine]

	mu    sync.Mutex
	vms   map[int]*vm
	gone  []*vm                    // for stale lists
	isos  map[string][]byte        // by host/volume
	tasks map[string]func() string // their exit status, by ID
}

func newCloud(b *simulator.Base) *cloud {
	c := &cloud{
		base: b, fleet: simulator.NewFleet[machine](b),
		vms: map[int]*vm{}, isos: map[string][]byte{}, tasks: map[string]func() string{},
	}
	c.install(firstImage)
	return c
}

// install installs the templates again, from an image. The provider hashes the field meta.
func (c *cloud) install(image string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, host := range hosts {
		c.vms[templates+n] = &vm{id: templates + n, host: host, options: map[string]string{
			"name": "debian", "template": "1", "meta": image, "cores": "1", "memory": "1024", "cpu": "host", "boot": "order=scsi0",
			"scsi0": fmt.Sprintf("%s:base-%d-disk-0,size=3G", disks, templates+n), "net0": "virtio=BC:24:11:00:00:00,bridge=vmbr0",
			"ipconfig0": "ip=dhcp", "smbios1": "uuid=00000000-0000-0000-0000-000000000000",
		}}
	}
}

// sweep forgets VMs that have ended.
func (c *cloud) sweep() {
	for id, v := range c.vms {
		if _, _, living := c.fleet.Get(strconv.Itoa(id)); v.started && !living {
			v.ended = time.Now()
			c.gone = append(c.gone, v)
			delete(c.vms, id)
		}
	}
}

// listed returns the VMs as lists show them: as they were some time ago under the fault stale.
func (c *cloud) listed() []*vm {
	at := time.Now().Add(-c.base.Faults.Stale())
	var all []*vm
	for _, v := range c.vms {
		if !v.created.After(at) {
			all = append(all, v)
		}
	}
	for _, v := range c.gone {
		if !v.created.After(at) && v.ended.After(at) {
			all = append(all, v)
		}
	}
	return all
}

func (c *cloud) listResources(r *http.Request) (any, error) {
	kind := r.FormValue("type")
	all := []any{}
	switch kind {
	case "vm":
		for _, v := range c.listed() {
			all = append(all, map[string]any{
				"id": fmt.Sprintf("qemu/%d", v.id), "type": "qemu", "vmid": v.id, "name": v.options["name"], "node": v.host,
				"status": v.power(), "template": v.number("template"), "tags": v.options["tags"],
				"maxcpu": v.number("cores"), "maxmem": v.number("memory") << 20,
			})
		}
	case "node":
		for _, host := range hosts {
			all = append(all, map[string]any{
				"id": "node/" + host, "type": kind, "node": host, "status": "online", "maxcpu": cpus, "maxmem": memory,
				"cpu": c.load(host),
			})
		}
	case "storage":
		for _, host := range hosts {
			for _, s := range storages {
				all = append(all, map[string]any{
					"id": "storage/" + host + "/" + s.Name, "type": kind, "node": host, "storage": s.Name, "status": "available",
					"content": s.Content, "plugintype": s.Type, "shared": 0,
				})
			}
		}
	}
	return all, nil
}

// load returns the part of a host's CPUs that its VMs have.
func (c *cloud) load(host string) float64 {
	used := 0
	for _, v := range c.vms {
		if v.host == host && v.power() == "running" {
			used += v.number("cores")
		}
	}
	return float64(used) / cpus
}

func (c *cloud) hostStatus(*http.Request) (any, error) {
	return map[string]any{
		"cpuinfo": map[string]any{
			"model": "Intel(R) Xeon(R) simulated", "cpus": cpus, "cores": cpus / 2, "sockets": 2, "mhz": "2000",
		},
		"memory": map[string]any{"total": memory},
	}, nil
}

func (c *cloud) listBridges(*http.Request) (any, error) {
	return []any{map[string]any{"iface": "vmbr0", "type": "bridge", "active": 1}}, nil
}

// storage is a storage that every host has.
type storage struct {
	Name    string `json:"storage"`
	Content string `json:"content"`
	Type    string `json:"type"`
	Enabled int    `json:"enabled"`
}

var storages = []storage{ //nolint:gochecknoglobals // a table
	{disks, "images,rootdir", "zfspool", 1}, {"local", "iso,vztmpl,import", "dir", 1},
}

func (c *cloud) listStorages(*http.Request) (any, error) { return storages, nil }
