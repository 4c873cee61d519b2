package cloud

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

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

	cloud *Cloud
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

// Name returns the instance's ID.
func (i *Instance) Name() string { return i.ID }

// Seen is an instance in a list. Under the fault simulator.Stale, its State is an older one.
type Seen struct {
	Instance
	State simulator.State
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
	some, err := chosen(c.fleet.Listed(), ids, func(e simulator.Entry[*Instance]) string {
		return e.Instance.ID
	}, func(id string) error { return noSuchInstance(id) })
	if err != nil {
		return nil, err
	}
	seen := make([]*Seen, len(some))
	for n, e := range some {
		seen[n] = &Seen{Instance: *e.Instance, State: e.State}
	}
	return copies(applyFilters(seen, filters))
}

func noSuchInstance(id string) *Error {
	return refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
}

// place returns a new instance of a pool. It is not launched yet.
func (c *Cloud) place(p Pool, t TemplateData, tags map[string]string) *Instance {
	c.addresses++
	p.Subnet.Free--
	return &Instance{
		ID: c.newID("i"), Type: p.Type, Capacity: p.Capacity, Subnet: *p.Subnet,
		IP:      fmt.Sprintf("10.%d.%d.%d", c.addresses>>16&0xff, c.addresses>>8&0xff, c.addresses&0xff),
		ImageID: p.ImageID, Groups: t.Groups, UserData: t.UserData, DiskGiB: t.DiskGiB,
		Launched: now(), Tags: maps.Clone(tags), cloud: c,
	}
}

// entered frees an ended instance's address, and publishes EventBridge's event about its new state.
func (c *Cloud) entered(i *Instance, s simulator.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == simulator.Terminated {
		for _, subnet := range c.subnets {
			if subnet.ID == i.Subnet.ID {
				subnet.Free++
			}
		}
	}
	c.queue.put(c.state(i.ID, string(s)))
}

// Change is an instance's state before and after a call.
type Change struct {
	ID            string
	Before, After simulator.State
}

// Terminate ends all of the instances, or none if one does not exist. An instance that has
// already ended is no error.
func (c *Cloud) Terminate(ids ...string) ([]Change, error) {
	var changes []Change
	for _, id := range ids {
		_, before, there := c.fleet.Get(id)
		if !there {
			return nil, noSuchInstance(id)
		}
		changes = append(changes, Change{ID: id, Before: before})
	}
	for n, change := range changes {
		c.fleet.Terminate(change.ID)
		_, changes[n].After, _ = c.fleet.Get(change.ID)
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
		i, _, there := c.fleet.Get(id)
		if !there {
			return noSuchInstance(id)
		}
		some = append(some, &i.Tags)
	}
	for _, has := range some { // not in place: lists returned earlier share the map
		*has = maps.Clone(*has)
		maps.Copy(*has, tags)
	}
	return nil
}

// Copy returns a copy of the instance to launch, without the tags that name a NodeClaim and a node. It is an error if
// its subnet is gone.
func (i *Instance) Copy() (*Instance, error) {
	i.cloud.mu.Lock()
	defer i.cloud.mu.Unlock()
	for _, s := range i.cloud.subnets {
		if s.ID != i.Subnet.ID {
			continue
		}
		tags := maps.Clone(i.Tags)
		delete(tags, "karpenter.sh/nodeclaim")
		delete(tags, "Name")
		p := Pool{Type: i.Type, Subnet: s, Capacity: i.Capacity, ImageID: i.ImageID}
		return i.cloud.place(p, TemplateData{Groups: i.Groups, UserData: i.UserData, DiskGiB: i.DiskGiB}, tags), nil
	}
	return nil, refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", i.Subnet.ID)
}
