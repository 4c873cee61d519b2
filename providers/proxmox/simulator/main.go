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
	"strconv"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	simulator.Main(simulator.Command{
		About: "simulator simulates a Proxmox VE cluster",
		Port:  8006,
		New: func(b *simulator.Base) (simulator.Cloud, error) {
			c := newCloud(b)
			release := func(*http.Request) (any, error) { c.install(secondImage); return nil, nil }
			return simulator.Cloud{
				Handler: http.StripPrefix("/api2/json", c.handler()), Instances: c,
				Reset: func() { c.install(firstImage) },
				Hooks: map[string]simulator.Hook{"POST /_sim/images": release},
			}, nil
		},
	})
}

// call carries out a call. Its result becomes the answer's field data.
type call func(*http.Request) (data any, err error)

// handler serves the API.
func (c *cloud) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, do := range map[string]call{
		"GET /cluster/resources":                c.listResources,
		"GET /cluster/nextid":                   c.checkID,
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
		"POST /nodes/{host}/qemu/{id}/status/start":  c.aboutVM(c.start),
		"POST /nodes/{host}/qemu/{id}/status/stop":   c.aboutVM(c.stop),
		"DELETE /nodes/{host}/qemu/{id}":             c.aboutVM(c.destroy),
	} {
		mux.HandleFunc(pattern, c.serve(do))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.base.Journal.CountUnknown(r.Method + " " + r.URL.Path)
		answer(w, nil, refusal{http.StatusNotImplemented, "not implemented"})
	})
	return mux
}

// serve answers a call, with the effect of the faults. Calls are carried out one at a time.
func (c *cloud) serve(do call) http.HandlerFunc {
	refuse := func(w http.ResponseWriter, k simulator.Kind) { answer(w, nil, refusals[k]) }
	return func(w http.ResponseWriter, r *http.Request) {
		c.base.Journal.CountCall(r.Pattern)
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

// refusal is an error with a status other than 500.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// busy is the status of calls that a host passes on to another, which doesn't answer in time. It has no body.
const busy = 596

// refusals holds the answers to calls that a fault refuses. Proxmox VE has no rate limit.
var refusals = map[simulator.Kind]refusal{
	simulator.Throttle:      {busy, "Connection timed out"},
	simulator.Denied:        {http.StatusForbidden, "Permission check failed"},
	simulator.FailedYetDone: {http.StatusInternalServerError, "got timeout"},
}

// answer writes an answer. Proxmox VE tells most errors in the status line, which Go can't set.
func answer(w http.ResponseWriter, data any, err error) {
	status, body := http.StatusOK, map[string]any{"data": data}
	if err != nil {
		status, body["errors"] = http.StatusInternalServerError, err.Error()
	}
	if r := (refusal{}); errors.As(err, &r) {
		status = r.status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status == busy {
		return
	}
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

// aboutVM returns a call about the VM of its path, with the parameters of its body as text.
func (c *cloud) aboutVM(do func(v *vm, parameters map[string]string) (any, error)) call {
	return func(r *http.Request) (any, error) {
		id, err := strconv.Atoi(r.PathValue("id"))
		v := c.vms[id]
		if err != nil || v == nil || v.host != r.PathValue("host") {
			return nil, fmt.Errorf("configuration file of VM %s does not exist on %s", r.PathValue("id"), r.PathValue("host"))
		}
		body, parameters := map[string]any{}, map[string]string{}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
			return nil, refusal{http.StatusBadRequest, err.Error()}
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

// done is the exit status of a task that takes no time.
func done() string { return "OK" }

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
