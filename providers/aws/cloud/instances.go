package cloud

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// State of an instance.
type State string

// The states that an instance goes through. It can be ended in the first two.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
)

// Code is the number that EC2 gives a state.
func (s State) Code() int {
	return map[State]int{Pending: 0, Running: 16, ShuttingDown: 32, Terminated: 48}[s]
}

// Capacity types.
const (
	Spot     = "spot"
	OnDemand = "on-demand"
)

// remembered is for how long an instance can be asked for after its end.
const remembered = time.Hour

// Instance is an instance as it was launched, and what has become of it.
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

	Tags map[string]string // never changed, but replaced

	states []entered     // in order
	end    chan struct{} // closed when it is to end
}

// entered is when an instance came into a state.
type entered struct {
	state State
	at    time.Time
}

// Maintenance is an event that EC2 has scheduled for an instance.
type Maintenance struct {
	Code, Description string // code as in instance-retirement
	NotBefore         time.Time
}

// PrivateDNS is the name by which the instance knows itself.
func (i *Instance) PrivateDNS() string {
	return "ip-" + strings.ReplaceAll(i.IP, ".", "-") + ".ec2.internal"
}

// ProviderID is what its node says it is.
func (i *Instance) ProviderID() string { return "aws:///" + i.Subnet.Zone.Name + "/" + i.ID }

// Ending is closed when the instance is to end.
func (i *Instance) Ending() <-chan struct{} { return i.end }

// stateAt is the state at a time, which is not before the launch.
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

// Seen is an instance as a list shows it.
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

// Instances that match, by time of launch. Those that ended more than an hour ago are forgotten.
func (c *Cloud) Instances(ids []string, filters []Filter) ([]Seen, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	at := time.Now().Add(-c.staleness())
	there := slices.DeleteFunc(slices.Clone(c.instances), func(i *Instance) bool { return i.states[0].at.After(at) })
	some, err := chosen(there, ids, func(i *Instance) string { return i.ID }, func(id string) error { return noSuchInstance(id) })
	if err != nil {
		return nil, err
	}
	seen := make([]*Seen, len(some))
	for n, i := range some {
		seen[n] = &Seen{Instance: *i, State: i.stateAt(at)}
	}
	return copies(filtered(seen, filters))
}

// Living are the instances that have not ended, as they are, however old lists may be.
func (c *Cloud) Living() []*Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.instances), func(i *Instance) bool { return i.state() == Terminated })
}

func noSuchInstance(id string) *Error {
	return refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
}

// forget drops the instances that ended long ago.
func (c *Cloud) forget() {
	c.instances = slices.DeleteFunc(c.instances, func(i *Instance) bool {
		return i.state() == Terminated && time.Since(i.states[len(i.states)-1].at) > remembered
	})
}

// instance is the one of that ID or provider ID.
func (c *Cloud) instance(id string) (*Instance, error) {
	id = id[strings.LastIndex(id, "/")+1:]
	for _, i := range c.instances {
		if i.ID == id {
			return i, nil
		}
	}
	return nil, noSuchInstance(id)
}

// launch starts an instance from a template.
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

// Enter brings an instance into its next state, and tells of it as EventBridge does.
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
	c.tell("EC2 Instance State-change Notification", i, map[string]any{"instance-id": i.ID, "state": s})
}

// Change is an instance's state before and after a call.
type Change struct {
	ID            string
	Before, After State
}

// Terminate ends instances. If one of them doesn't exist, none is ended; to end one that has
// ended is no error.
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

// Tag puts tags on instances, launch templates and other resources that exist.
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
	for _, has := range some { // which lists that were answered have too
		*has = maps.Clone(*has)
		maps.Copy(*has, tags)
	}
	return nil
}

// Leak launches an instance that looks like another one and that nobody asked for: a copy of
// the last that was launched for a NodeClass, with its tags but those that name a NodeClaim.
// It is an error if none was ever launched.
func (c *Cloud) Leak() (*Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.instances) == 0 {
		return nil, refuse("IncorrectInstanceState", "there has been no instance yet of which one could be leaked")
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
		return c.launch(p, &Template{Data: TemplateData{Groups: last.Groups, UserData: last.UserData, DiskGiB: last.DiskGiB}}, tags), nil
	}
	return nil, refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", last.Subnet.ID)
}
