// Package cloud simulates a project of Hetzner Cloud: https://docs.hetzner.cloud.
package cloud

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

const launchCall = "POST /v1/servers"

// object is what the API answers with, or a part of it.
type object = map[string]any

// cloud is a project with one Talos image for each architecture, and networks, firewalls and SSH keys 1 and 2.
type cloud struct {
	base  *simulator.Base
	fleet *simulator.Fleet[*server]
	next  atomic.Int64 // the last ID that was given to a server, an image or a group

	mu     sync.Mutex
	images []object
	groups []object
}

// New returns a project without servers.
func New(b *simulator.Base) (simulator.Cloud, error) {
	c := &cloud{base: b, fleet: simulator.NewFleet[*server](b)}
	c.next.Store(1000)
	c.publish()
	return simulator.Cloud{
		Handler: c.handler(), Instances: c.fleet, Launches: []string{launchCall},
		Hooks: map[string]simulator.Hook{
			"POST /_sim/images": func(*http.Request) (any, error) { c.publish(); return nil, nil },
		},
	}, nil
}

// publish adds a snapshot for each architecture, newer than those that there are. No reset removes it: the provider
// would find that out by and by, and the next spec's nodes drift.
func (c *cloud) publish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, arch := range []string{"x86", "arm"} {
		c.images = append(c.images, object{
			"id": c.next.Add(1), "type": "snapshot", "status": "available", "architecture": arch,
			"description": "Talos v1.12.0", "created": time.Now(), "labels": map[string]string{"os": "talos"},
		})
	}
}

// handler serves the calls. The path of the API begins with /v1.
func (c *cloud) handler() http.Handler {
	fixed := func() []object { return []object{{"id": 1, "name": "one"}, {"id": 2, "name": "two"}} }
	calls := map[string]simulator.Call{
		"POST /v1/placement_groups": c.createGroup, launchCall: c.createServer, "DELETE /v1/servers/{id}": c.deleteServer,
	}
	for kind, items := range map[string]func() []object{
		"server_types": types, "images": c.copyOf(&c.images), "placement_groups": c.copyOf(&c.groups),
		"networks": fixed, "firewalls": fixed, "ssh_keys": fixed, "servers": c.listed, "actions": c.actions,
	} {
		calls["GET /v1/"+kind] = func(r *http.Request) (any, error) { return list(r, kind, items()) }
		if kind == "servers" {
			items = c.living
		}
		calls["GET /v1/"+kind+"/{id}"] = func(r *http.Request) (any, error) { return get(r, kind, items()) }
	}
	api := simulator.API{Base: c.base, Refusals: map[simulator.Kind]*simulator.Error{
		simulator.Throttle: simulator.Errorf(http.StatusTooManyRequests, "rate_limit_exceeded", "too many requests"),
		simulator.Denied:   simulator.Errorf(http.StatusForbidden, "token_readonly", "the token may only read"),
	}}
	return api.Routes(calls)
}

func (c *cloud) copyOf(items *[]object) func() []object {
	return func() []object {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Clone(*items)
	}
}

func types() (all []object) {
	for _, t := range serverTypes() {
		all = append(all, t.object())
	}
	return all
}

func objects(entries []simulator.Entry[*server]) (all []object) {
	for _, e := range entries {
		all = append(all, e.Instance.object(e.State))
	}
	return all
}

func (c *cloud) listed() []object { return objects(c.fleet.Listed()) }
func (c *cloud) living() []object { return objects(c.fleet.Living()) }

func (c *cloud) actions() (all []object) {
	for _, e := range c.fleet.Living() {
		all = append(all, e.Instance.action(1, "create_server", e.State), e.Instance.action(2, "start_server", e.State))
	}
	return all
}

// list returns a page of those objects that have the labels, and the values of the other parameters.
func list(r *http.Request, kind string, items []object) (any, error) {
	query := r.URL.Query()
	selector, err := labels.Parse(query.Get("label_selector"))
	if err != nil {
		return nil, invalid("label_selector: %v", err)
	}
	items = slices.DeleteFunc(items, func(o object) bool {
		for key, values := range query {
			if v, has := o[key]; has && !slices.Contains(values, fmt.Sprint(v)) {
				return true
			}
		}
		set, _ := o["labels"].(map[string]string)
		return !selector.Matches(labels.Set(set))
	})
	page, _ := strconv.Atoi(query.Get("page")) // 0 is the first page, and the usual size
	size, _ := strconv.Atoi(query.Get("per_page"))
	page, size = max(page, 1), cmp.Or(size, 25)
	pagination := object{"page": page, "per_page": size, "total_entries": len(items)}
	if page*size < len(items) {
		pagination["next_page"] = page + 1
	}
	from, to := min((page-1)*size, len(items)), min(page*size, len(items))
	return object{kind: items[from:to], "meta": object{"pagination": pagination}}, nil
}

func get(r *http.Request, kind string, items []object) (any, error) {
	o := find(items, r.PathValue("id"))
	if o == nil {
		return nil, notFound(kind)
	}
	return object{strings.TrimSuffix(kind, "s"): o}, nil
}

// find returns the object of an ID or a name, or nil.
func find(items []object, id any) object {
	i := slices.IndexFunc(items, func(o object) bool { return fmt.Sprint(o["id"]) == fmt.Sprint(id) || o["name"] == id })
	if i < 0 {
		return nil
	}
	return items[i]
}

func (c *cloud) createGroup(r *http.Request) (any, error) {
	var ask struct{ Name, Type string }
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		return nil, invalid("%v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if find(c.groups, ask.Name) != nil {
		return nil, notUnique()
	}
	group := object{"id": c.next.Add(1), "name": ask.Name, "type": ask.Type}
	c.groups = append(c.groups, group)
	return object{"placement_group": group}, nil
}

// launch is the request of a new server.
type launch struct {
	Name       string            `json:"name"`
	ServerType any               `json:"server_type"` // an ID or a name
	Image      any               `json:"image"`
	Location   string            `json:"location"`
	UserData   string            `json:"user_data"`
	Labels     map[string]string `json:"labels"`
	Networks   []int64           `json:"networks"`
	Group      int64             `json:"placement_group"`
	Firewalls  []struct {
		Firewall int64 `json:"firewall"`
	} `json:"firewalls"`
}

func (c *cloud) createServer(r *http.Request) (any, error) {
	var ask launch
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&ask); err != nil {
		return nil, invalid("%v", err)
	}
	s, err := c.launch(ask)
	if err != nil {
		return nil, err
	}
	return object{
		"server": s.object(simulator.Pending), "action": s.action(1, "create_server", simulator.Pending),
		"next_actions": []object{s.action(2, "start_server", simulator.Pending)},
	}, nil
}

func (c *cloud) launch(ask launch) (*server, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := serverTypes()
	k := slices.IndexFunc(kinds, func(t serverType) bool { return find([]object{t.object()}, ask.ServerType) != nil })
	image := find(c.images, ask.Image)
	switch {
	case k < 0 || image == nil || datacenters()[ask.Location] == "":
		return nil, invalid("no type %v, image %v or location %s", ask.ServerType, ask.Image, ask.Location)
	case image["architecture"] != kinds[k].arch:
		return nil, invalid("the image is of another architecture than the server type")
	case c.base.Faults.ShortageFor(ask.Name, simulator.Offering{
		Type: kinds[k].name, Zone: ask.Location, CapacityType: "on-demand",
	}):
		return nil, simulator.Errorf(http.StatusPreconditionFailed, "resource_unavailable", "error during placement")
	case ask.Group != 0 && c.members(ask.Group) >= 10:
		return nil, simulator.Errorf(http.StatusConflict, "placement_group_member_limit_reached",
			"placement group with ID %d contains already 10 servers", ask.Group)
	}
	s := &server{
		cloud: c, id: c.next.Add(1), name: ask.Name, location: ask.Location, kind: kinds[k], image: image,
		labels: ask.Labels, networks: ask.Networks, group: ask.Group, userData: ask.UserData, created: time.Now(),
	}
	for _, f := range ask.Firewalls {
		s.firewalls = append(s.firewalls, f.Firewall)
	}
	if c.fleet.Launch(s) != nil {
		return nil, notUnique()
	}
	return s, nil
}

func (c *cloud) members(group int64) (n int) {
	for _, e := range c.fleet.Living() {
		if e.Instance.group == group {
			n++
		}
	}
	return n
}

func (c *cloud) deleteServer(r *http.Request) (any, error) {
	s, err := c.fleet.Find("hcloud://" + r.PathValue("id"))
	if err != nil {
		return nil, notFound("servers")
	}
	c.fleet.Terminate(s.name)
	return object{"action": s.action(3, "delete_server", simulator.Pending)}, nil
}

func notUnique() error {
	return simulator.Errorf(http.StatusConflict, "uniqueness_error", "name is already used")
}

func notFound(kind string) error {
	return simulator.Errorf(http.StatusNotFound, "not_found", "%s not found", strings.TrimSuffix(kind, "s"))
}

func invalid(format string, args ...any) error {
	return simulator.Errorf(http.StatusUnprocessableEntity, "invalid_input", format, args...)
}
