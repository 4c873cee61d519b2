// Command simulator simulates a Proxmox VE cluster for Karpenter: the part of its REST API that
// karpenter-provider-proxmox calls. Its virtual machines join a cluster as nodes that KWOK plays.
//
// Source: https://pve.proxmox.com/pve-docs/api-viewer/.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	simulator.Main(simulator.Command{
		About: "simulator simulates a Proxmox VE cluster",
		Port:  8006,
		New: func(b *simulator.Base) (simulator.Cloud, error) {
			c := newCloud(b)
			hook := func(do func()) simulator.Hook {
				return func(*http.Request) (any, error) { do(); return nil, nil }
			}
			return simulator.Cloud{
				Handler: http.StripPrefix("/api2/json", c.handler()), Instances: c, Launches: []string{start},
				Hooks: map[string]simulator.Hook{"POST /_sim/images": hook(c.install), "POST /_sim/ids": hook(c.freeIDs)},
			}, nil
		},
	})
}

const (
	nextID = "GET /cluster/nextid"
	start  = "POST /nodes/{host}/qemu/{id}/status/start"
)

// handler serves the API. Calls are carried out one at a time.
func (c *cloud) handler() http.Handler {
	api := &simulator.API{Base: c.base, Lock: &c.mu, Write: write, Refusals: map[simulator.Kind]*simulator.Error{
		// There is no rate limit.
		simulator.Throttle: simulator.Errorf(busy, "", "Connection timed out"),
	}, Spared: []string{nextID}} // the provider asks for one ID after another
	return api.Routes(map[string]simulator.Call{
		"GET /cluster/resources":                c.listResources,
		nextID:                                  c.checkID,
		"GET /nodes/{host}/status":              c.showHost,
		"GET /nodes/{host}/network":             c.listBridges,
		"GET /nodes/{host}/storage":             c.listStorages,
		"GET /nodes/{host}/tasks/{task}/status": c.showTask,

		"POST /nodes/{host}/storage/{storage}/upload":                c.upload,
		"GET /nodes/{host}/storage/{storage}/content/{volume...}":    c.volume,
		"DELETE /nodes/{host}/storage/{storage}/content/{volume...}": c.volume,

		"GET /nodes/{host}/qemu/{id}/status/current": c.aboutVM(c.status),
		"GET /nodes/{host}/qemu/{id}/config":         c.aboutVM(c.config),
		"POST /nodes/{host}/qemu/{id}/config":        c.aboutVM(c.configure),
		"PUT /nodes/{host}/qemu/{id}/resize":         c.aboutVM(c.resize),
		"POST /nodes/{host}/qemu/{id}/clone":         c.aboutVM(c.clone),
		start:                                        c.aboutVM(c.start),
		"POST /nodes/{host}/qemu/{id}/status/stop":   c.aboutVM(c.stop),
		"DELETE /nodes/{host}/qemu/{id}":             c.aboutVM(c.destroy),
	})
}

// busy is the status of calls that a host passes on to another, which doesn't answer in time. It has no body.
const busy = 596

// write writes an answer. Proxmox VE tells most errors in the status line, which Go can't set.
func write(w http.ResponseWriter, _ *http.Request, data any, e *simulator.Error) {
	switch {
	case e == nil:
		simulator.WriteJSON(w, http.StatusOK, map[string]any{"data": data})
	case e.Status == busy:
		w.WriteHeader(busy)
	default:
		simulator.WriteJSON(w, e.Status, map[string]any{"data": nil, "errors": e.Message})
	}
}

// aboutVM returns a call about the VM or template of its path, with the parameters of its body as text.
func (c *cloud) aboutVM(do func(v *vm, parameters map[string]string) (any, error)) simulator.Call {
	return func(r *http.Request) (any, error) {
		id := r.PathValue("id")
		v := c.find(id)
		if v == nil || v.host != r.PathValue("host") {
			return nil, fmt.Errorf("configuration file of VM %s does not exist on %s", id, r.PathValue("host"))
		}
		body, parameters := map[string]any{}, map[string]string{}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
			return nil, simulator.Errorf(http.StatusBadRequest, "", "%v", err)
		}
		for name, value := range body {
			parameters[name] = fmt.Sprint(value)
		}
		return do(v, parameters)
	}
}

// newTask returns the ID of a task. Its exit status is empty while it runs.
func (c *cloud) newTask(host, kind string, exit func() string) string {
	task := fmt.Sprintf("UPID:%s:%08X:00000000:00000000:%s:0:karpenter@pve!plumbline:", host, len(c.tasks), kind)
	c.tasks[task] = exit
	return task
}

// okIf returns the exit status of a task that has ended, or else none.
func okIf(ended bool) string {
	if ended {
		return "OK"
	}
	return ""
}

// done is the exit status of a task that takes no time.
func done() string { return okIf(true) }

func (c *cloud) showTask(r *http.Request) (any, error) {
	task := r.PathValue("task")
	exit, there := c.tasks[task]
	if !there {
		return nil, errors.New("no such task")
	}
	answer := map[string]any{"upid": task, "node": r.PathValue("host"), "status": "running"}
	if status := exit(); status != "" {
		answer["status"], answer["exitstatus"] = "stopped", status
	}
	return answer, nil
}
