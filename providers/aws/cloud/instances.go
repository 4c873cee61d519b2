package cloud

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// State is the state of an instance.
type State string

// The states of an instance, in order. Pending and Running instances can be ended.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
)

// Code returns EC2's number for the state.
func (s State) Code() int {
	return map[State]int{Pending: 0, Running: 16, ShuttingDown: 32, Terminated: 48}[s]
}

// Capacity types.
const (
	Spot     = "spot"
	OnDemand = "on-demand"
)

// remembered is how long lists still contain a terminated instance.
const remembered = time.Hour

// Instance is an instance: its launch settings and its states since.
type Instance struct {
	ID        string
	Type      *Type
	Capacity  string // spot or on-demand
	Subnet    Subnet
	IP        string
	ImageID   string
	Groups    []string
	UserData  string // base64
	DiskGiB   int
	Launched  time.Time
	Scheduled []Maintenance

	Tags map[string]string // replaced, never modified in place

	states []entered     // in order
	end    chan struct{} // closed when the instance must end
}

// entered holds a state and the time when an instance entered it.
type entered struct {
	state State
	at    time.Time
}

// Maintenance is an event that EC2 has scheduled for an instance.
type Maintenance struct {
	Code, Description string // Code: such as instance-retirement
	NotBefore         time.Time
}

// PrivateDNS returns the instance's private DNS name.
func (i *Instance) PrivateDNS() string {
	return "ip-" + strings.ReplaceAll(i.IP, ".", "-") + ".ec2.internal"
}

// ProviderID returns the spec.providerID of the instance's Node.
func (i *Instance) ProviderID() string { return "aws:///" + i.Subnet.Zone.Name + "/" + i.ID }

// Ending returns a channel that is closed when the instance must end.
func (i *Instance) Ending() <-chan struct{} { return i.end }

// stateAt returns the state at a time. The time must not be before the launch.
func (i *Instance) stateAt(t time.Time) (s State) {
	for _, e := range i.states {
		if e.at.After(t) {
			break
		}
		s = e.state
	}
	return s
}

func (i *Instance) state() State { return i.states[len(i.states)-1].state }

// Seen is an instance in a list. Under the fault Stale, its State is an older one.
type Seen struct {
	Instance
	State State
}

func (s *Seen) tags() map[string]string { return s.Tags }

func (s *Seen) attribute(name string) ([]string, bool) {
	switch name {
	case "instance-id":
		return []string{s.ID}, true
	case "instance-state-name":
		return []string{string(s.State)}, true
	case "instance-type":
		return []string{s.Type.Name}, true
	case "availability-zone":
		return []string{s.Subnet.Zone.Name}, true
	case "subnet-id":
		return []string{s.Subnet.ID}, true
	case "image-id":
		return []string{s.ImageID}, true
	case "private-dns-name":
		return []string{s.PrivateDNS()}, true
	case "instance-lifecycle":
		if s.Capacity == Spot {
			return []string{Spot}, true
		}
		return nil, true
	case "event.code":
		var codes []string
		for _, m := range s.Scheduled {
			codes = append(codes, m.Code)
		}
		return codes, true
	case "instance-status.status", "system-status.status":
		return []string{"ok"}, true
	}
	return nil, false
}

// Instances returns the instances that match, by launch time, until an hour after their end.
func (c *Cloud) Instances(ids []string, filters []Filter) ([]Seen, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	at := time.Now().Add(-c.staleness())
	there := slices.DeleteFunc(slices.Clone(c.instances), func(i *Instance) bool { return i.states[0].at.After(at) })
	some, err := chosen(there, ids, func(i *Instance) string {
		return i.ID
	}, func(id string) error { return noSuchInstance(id) })
	if err != nil {
		return nil, err
	}
	seen := make([]*Seen, len(some))
	for n, i := range some {
		seen[n] = &Seen{Instance: *i, State: i.stateAt(at)}
	}
	return copies(applyFilters(seen, filters))
}

// Living returns the instances that have not terminated. The fault Stale does not affect it.
func (c *Cloud) Living() []*Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.instances), func(i *Instance) bool { return i.state() == Terminated })
}

func noSuchInstance(id string) *Error {
	return refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
}

func (c *Cloud) forget() {
	c.instances = slices.DeleteFunc(c.instances, func(i *Instance) bool {
		return i.state() == Terminated && time.Since(i.states[len(i.states)-1].at) > remembered
	})
}

// instance returns the instance of an ID or provider ID.
func (c *Cloud) instance(id string) (*Instance, error) {
	id = id[strings.LastIndex(id, "/")+1:]
	for _, i := range c.instances {
		if i.ID == id {
			return i, nil
		}
	}
	return nil, noSuchInstance(id)
}

func (c *Cloud) launch(p Pool, t *Template, tags map[string]string) *Instance {
	c.addresses++
	p.Subnet.Free--
	i := &Instance{
		ID: c.newID("i"), Type: p.Type, Capacity: p.Capacity, Subnet: *p.Subnet,
		IP:      fmt.Sprintf("10.%d.%d.%d", c.addresses>>16&0xff, c.addresses>>8&0xff, c.addresses&0xff),
		ImageID: p.ImageID, Groups: t.Data.Groups, UserData: t.Data.UserData, DiskGiB: t.Data.DiskGiB,
		Launched: now(), Tags: maps.Clone(tags), states: []entered{{Pending, time.Now()}}, end: make(chan struct{}),
	}
	c.instances = append(c.instances, i)
	if c.settings.Notify != nil {
		go c.settings.Notify(i)
	}
	return i
}

// Enter moves an instance to a state and publishes EventBridge's event about it.
func (c *Cloud) Enter(i *Instance, s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i.states = append(i.states, entered{s, time.Now()})
	if s == Terminated {
		for _, subnet := range c.subnets {
			if subnet.ID == i.Subnet.ID {
				subnet.Free++
			}
		}
	}
	c.publish("EC2 Instance State-change Notification", i, map[string]any{"instance-id": i.ID, "state": s})
}

// Change is an instance's state before and after a call.
type Change struct {
	ID            string
	Before, After State
}

// Terminate ends all of the instances, or none if one does not exist. An instance that has
// already ended is no error.
func (c *Cloud) Terminate(ids ...string) ([]Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var some []*Instance
	for _, id := range ids {
		i, err := c.instance(id)
		if err != nil {
			return nil, err
		}
		some = append(some, i)
	}
	var changes []Change
	for _, i := range some {
		before := i.state()
		select {
		case <-i.end:
			changes = append(changes, Change{i.ID, before, before})
		default:
			close(i.end)
			changes = append(changes, Change{i.ID, before, ShuttingDown})
		}
	}
	return changes, nil
}

// Tag adds tags to instances and launch templates. An unknown ID is an error.
func (c *Cloud) Tag(ids []string, tags map[string]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var some []*map[string]string
	for _, id := range ids {
		if strings.HasPrefix(id, "lt-") {
			t, err := c.template(id, "")
			if err != nil {
				return err
			}
			some = append(some, &t.Tags)
			continue
		}
		i, err := c.instance(id)
		if err != nil {
			return err
		}
		some = append(some, &i.Tags)
	}
	for _, has := range some { // not in place: lists returned earlier share the map
		*has = maps.Clone(*has)
		maps.Copy(*has, tags)
	}
	return nil
}

// Leak launches a copy of the last instance, without the tags that name a NodeClaim and a
// node. It is an error if there is no instance.
func (c *Cloud) Leak() (*Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.instances) == 0 {
		return nil, refuse("IncorrectInstanceState", "there has been no instance yet to copy")
	}
	last := c.instances[len(c.instances)-1]
	for _, s := range c.subnets {
		if s.ID != last.Subnet.ID {
			continue
		}
		tags := maps.Clone(last.Tags)
		delete(tags, "karpenter.sh/nodeclaim")
		delete(tags, "Name")
		p := Pool{Type: last.Type, Subnet: s, Capacity: last.Capacity, ImageID: last.ImageID}
		return c.launch(p, &Template{Data: TemplateData{Groups: last.Groups, UserData: last.UserData, DiskGiB: last.DiskGiB}},
			tags), nil
	}
	return nil, refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", last.Subnet.ID)
}
