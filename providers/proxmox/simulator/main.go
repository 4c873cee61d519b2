// Command simulator simulates a Proxmox VE cluster for Karpenter: the part of its REST API that
// karpenter-provider-proxmox calls. Its virtual machines join a cluster as nodes that KWOK plays.
//
// Source: https://pve.proxmox.com/pve-docs/api-viewer/.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	simulator.Main(simulator.Command{
		About: "simulator simulates a Proxmox VE cluster",
		Port:  8006,
		New: func(b *simulator.Base) (simulator.Cloud, error) {
			c := newCloud(b)
			return simulator.Cloud{
				Handler: c.handler(), Instances: c.fleet, Reset: func() { c.install(firstImage) },
				Hooks: map[string]simulator.Hook{
					"GET /_sim/instances": func(*http.Request) (any, error) { return c.providerIDs(), nil },
					"POST /_sim/images":   func(*http.Request) (any, error) { c.install(secondImage); return nil, nil },
				},
			}, nil
		},
	})
}

// handler serves the API.
func (c *cloud) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"GET /api2/json/cluster/resources":                c.listResources,
		"GET /api2/json/cluster/nextid":                   c.nextID,
		"GET /api2/json/nodes/{host}/status":              c.hostStatus,
		"GET /api2/json/nodes/{host}/network":             c.listBridges,
		"GET /api2/json/nodes/{host}/storage":             c.listStorages,
		"GET /api2/json/nodes/{host}/tasks/{task}/status": c.taskStatus,

		"POST /api2/json/nodes/{host}/storage/{storage}/upload":                c.upload,
		"GET /api2/json/nodes/{host}/storage/{storage}/content/{volume...}":    c.getVolume,
		"DELETE /api2/json/nodes/{host}/storage/{storage}/content/{volume...}": c.deleteVolume,

		"GET /api2/json/nodes/{host}/qemu/{id}/status/current": c.vmCall(c.status),
		"GET /api2/json/nodes/{host}/qemu/{id}/config":         c.vmCall(c.config),
		"POST /api2/json/nodes/{host}/qemu/{id}/config":        c.vmCall(c.configure),
		"PUT /api2/json/nodes/{host}/qemu/{id}/resize":         c.vmCall(c.resize),
		"POST /api2/json/nodes/{host}/qemu/{id}/clone":         c.vmCall(c.clone),
		"POST /api2/json/nodes/{host}/qemu/{id}/status/start":  c.vmCall(c.start),
		"POST /api2/json/nodes/{host}/qemu/{id}/status/stop":   c.vmCall(c.stop),
		"DELETE /api2/json/nodes/{host}/qemu/{id}":             c.vmCall(c.destroy),
	} {
		mux.HandleFunc(pattern, c.serve(do))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.base.Journal.CountUnknown(r.Method + " " + r.URL.Path)
		answer(w, nil, refusal{http.StatusNotImplemented, "Method '" + r.Method + " " + r.URL.Path + "' not implemented"})
	})
	return mux
}

// refusal is an error answer.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// refusals holds the answers to calls that a fault refuses. A busy Proxmox VE doesn't throttle: its hosts don't answer
// each other in time, which is status 596.
var refusals = map[simulator.Kind]refusal{ //nolint:gochecknoglobals // a table
	simulator.Throttle:      {596, "Connection timed out"},
	simulator.Denied:        {http.StatusForbidden, "Permission check failed"},
	simulator.FailedYetDone: {http.StatusInternalServerError, "got timeout"},
}

// serve answers a call with the effect of the faults. Calls are carried out one at a time.
func (c *cloud) serve(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.base.Journal.CountCall(r.Pattern)
		refuse := func(w http.ResponseWriter, k simulator.Kind) { answer(w, nil, refusals[k]) }
		c.base.Faults.Call(r.Pattern).Play(w, r, refuse, func(w http.ResponseWriter, r *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.sweep()
			data, err := do(r)
			if err != nil {
				c.base.Journal.CountRefusal(r.Pattern, err.Error())
			}
			answer(w, data, err)
		})
	}
}

// answer writes an answer. Proxmox VE tells errors in the status line, which Go can't set, and some in the body.
func answer(w http.ResponseWriter, data any, err error) {
	body := map[string]any{"data": data}
	status := http.StatusOK
	if err != nil {
		status, body["errors"] = http.StatusInternalServerError, err.Error()
		if r := (refusal{}); errors.As(err, &r) {
			status = r.status
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

// vmCall returns a call about the VM of its path. The parameters are those of the body, as text.
func (c *cloud) vmCall(do func(v *vm, parameters map[string]string) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id, err := strconv.Atoi(r.PathValue("id"))
		v := c.vms[id]
		if err != nil || v == nil || v.host != r.PathValue("host") {
			return nil, fmt.Errorf("Configuration file 'nodes/%s/qemu-server/%s.conf' does not exist", //nolint:staticcheck // Proxmox VE's own
				r.PathValue("host"), r.PathValue("id"))
		}
		parameters := map[string]any{}
		if r.ContentLength > 0 {
			if err := json.NewDecoder(r.Body).Decode(&parameters); err != nil {
				return nil, refusal{http.StatusBadRequest, err.Error()}
			}
		}
		texts := map[string]string{}
		for name, value := range parameters {
			texts[name] = fmt.Sprint(value)
		}
		return do(v, texts)
	}
}

// newTask returns the ID of a task. Its exit status is empty while it runs.
func (c *cloud) newTask(host, kind string, id int, exit func() string) string {
	task := fmt.Sprintf("UPID:%s:%08X:00000000:65000000:%s:%d:karpenter@pve!plumbline:", host, len(c.tasks)+1, kind, id)
	c.tasks[task] = exit
	return task
}

func done() string { return "OK" }

func (c *cloud) taskStatus(r *http.Request) (any, error) {
	task := r.PathValue("task")
	exit, there := c.tasks[task]
	if !there {
		return nil, errors.New("no such task")
	}
	status := map[string]any{"upid": task, "node": r.PathValue("host"), "status": "running"}
	if code := exit(); code != "" {
		status["status"], status["exitstatus"] = "stopped", code
	}
	return status, nil
}

// nextID asserts that an ID is free.
func (c *cloud) nextID(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.FormValue("vmid"))
	if err != nil || c.vms[id] != nil {
		return nil, refusal{http.StatusBadRequest, fmt.Sprintf("VM %s already exists", r.FormValue("vmid"))}
	}
	return strconv.Itoa(id), nil
}

// volumeOf returns the key in isos of a call's volume.
func volumeOf(r *http.Request) string { return r.PathValue("host") + "/" + r.PathValue("volume") }

func (c *cloud) upload(r *http.Request) (any, error) {
	file, header, err := r.FormFile("filename")
	if err != nil {
		return nil, refusal{http.StatusBadRequest, err.Error()}
	}
	defer func() { _ = file.Close() }()
	iso := make([]byte, header.Size)
	if _, err := file.ReadAt(iso, 0); err != nil {
		return nil, err
	}
	host := r.PathValue("host")
	c.isos[fmt.Sprintf("%s/%s:iso/%s", host, r.PathValue("storage"), header.Filename)] = iso
	return c.newTask(host, "imgcopy", 0, done), nil
}

func (c *cloud) getVolume(r *http.Request) (any, error) {
	iso, there := c.isos[volumeOf(r)]
	if !there {
		return nil, errors.New("volume does not exist")
	}
	return map[string]any{"path": "/var/lib/vz/" + r.PathValue("volume"), "size": len(iso), "format": "iso"}, nil
}

func (c *cloud) deleteVolume(r *http.Request) (any, error) {
	delete(c.isos, volumeOf(r))
	return c.newTask(r.PathValue("host"), "imgdel", 0, done), nil
}

// providerIDs returns the provider IDs of all VMs, including those that are not started.
func (c *cloud) providerIDs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	ids := []string{}
	for id, v := range c.vms {
		if !v.isTemplate() {
			ids = append(ids, providerID(id))
		}
	}
	slices.Sort(ids)
	return ids
}
