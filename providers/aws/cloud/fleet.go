package cloud

import (
	"cmp"
	"math"
	"slices"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Pool is a source of instances: a type in a subnet's zone, on spot or on demand.
type Pool struct {
	Type     *Type
	Subnet   *Subnet
	Capacity string
	ImageID  string

	override Override
	template *Template
}

// Override is one alternative in a Choice.
type Override struct {
	Type, SubnetID, Zone, ImageID string
	Priority                      float64 // lowest first, under the prioritized strategies
}

// Choice is a launch template with overrides.
type Choice struct {
	TemplateID, TemplateName string // one of the two
	Overrides                []Override
}

// FleetRequest is a request for a fleet of type instant.
type FleetRequest struct {
	Token    string // client token: a repeated request returns the first fleet
	Capacity string // spot or on-demand
	Strategy string // allocation strategy, such as lowest-price or prioritized
	Count    int
	Choices  []Choice
	Tags     map[string]string // of the instances
}

// Fleet is the result of a request.
type Fleet struct {
	ID       string
	Launched []Launch
	Errors   []LaunchError
}

// Launch holds the instances that were launched from one override.
type Launch struct {
	Instances []*Instance
	Template  Template
	Override  Override
	Capacity  string
}

// LaunchError is the reason why an override gave no or too few instances.
type LaunchError struct {
	Error    *Error
	Template Template
	Override Override
	Capacity string
}

// CreateFleet launches instances from the pools in the strategy's order, until it has enough.
// The fleet's errors hold the pools that failed. CreateFleet returns an error only for an
// invalid request, such as for a launch template that does not exist.
func (c *Cloud) CreateFleet(r FleetRequest) (*Fleet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, answered := c.fleets[r.Token]; answered && r.Token != "" {
		return f, nil
	}
	f := &Fleet{ID: c.newID("fleet")}
	pools, err := c.pools(r, f)
	if err != nil {
		return nil, err
	}
	short := c.base.Faults.Shortages()
	missing := r.Count
	for _, p := range pools {
		if missing == 0 {
			break
		}
		if short(simulator.Offering{Type: p.Type.Name, Zone: p.Subnet.Zone.Name, CapacityType: p.Capacity}) {
			f.fail(p, refuse("InsufficientInstanceCapacity",
				"We currently do not have sufficient %s capacity in the Availability Zone you requested (%s).", p.Type.Name,
				p.Subnet.Zone.Name))
			continue
		}
		n := min(missing, p.Subnet.Free)
		if n < missing {
			f.fail(p, refuse("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s'.",
				p.Subnet.ID))
		}
		if n == 0 {
			continue
		}
		launch := Launch{Template: *p.template, Override: p.override, Capacity: p.Capacity}
		for range n {
			i := c.place(p, p.template.Data, r.Tags)
			if err := c.fleet.Launch(i); err != nil {
				return nil, err
			}
			launch.Instances = append(launch.Instances, i)
		}
		f.Launched = append(f.Launched, launch)
		missing -= n
	}
	if r.Token != "" {
		c.fleets[r.Token] = f
	}
	return f, nil
}

func (f *Fleet) fail(p Pool, err *Error) {
	f.Errors = append(f.Errors, LaunchError{Error: err, Template: *p.template, Override: p.override, Capacity: p.Capacity})
}

// pools returns the request's valid pools in its strategy's order. It adds the reasons against
// the others to the fleet's errors.
func (c *Cloud) pools(r FleetRequest, f *Fleet) ([]Pool, error) {
	var pools []Pool
	for _, choice := range r.Choices {
		t, err := c.template(choice.TemplateID, choice.TemplateName)
		if err != nil {
			return nil, err
		}
		if err := c.launchable(t); err != nil {
			return nil, err
		}
		for _, o := range choice.Overrides {
			p, refused := c.pool(r.Capacity, t, o)
			if refused != nil {
				f.fail(p, refused)
				continue
			}
			pools = append(pools, p)
		}
	}
	if len(pools) == 0 && len(f.Errors) == 0 {
		return nil, refuse("InvalidParameterCombination", "The request has no launch template overrides")
	}
	slices.SortStableFunc(pools, func(a, b Pool) int { return cmp.Compare(a.cost(r.Strategy), b.cost(r.Strategy)) })
	return pools, nil
}

// launchable returns an error if a security group or the profile of a template does not exist.
func (c *Cloud) launchable(t *Template) error {
	for _, id := range t.Data.Groups {
		if !slices.ContainsFunc(c.groups, func(g *Group) bool { return g.ID == id }) {
			return refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	if _, there := c.profiles[t.Data.Profile]; !there && t.Data.Profile != "" {
		return refuse("InvalidParameterValue",
			"Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", t.Data.Profile)
	}
	return nil
}

// pool returns the pool of an override, or the reason why it is invalid.
func (c *Cloud) pool(capacity string, t *Template, o Override) (Pool, *Error) {
	p := Pool{
		Type: c.typeNamed(o.Type), Capacity: capacity, ImageID: cmp.Or(o.ImageID, t.Data.ImageID), override: o,
		template: t,
	}
	for _, s := range c.subnets {
		if s.ID == o.SubnetID || o.SubnetID == "" && s.Zone.Name == o.Zone {
			p.Subnet = s
		}
	}
	image := c.images[p.ImageID]
	switch {
	case p.Type == nil:
		return p, refuse("InvalidParameterValue", "Invalid value '%s' for InstanceType.", o.Type)
	case p.Subnet == nil:
		return p, refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", o.SubnetID)
	case image == nil:
		return p, refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", p.ImageID)
	case image.Arch != p.Type.Arch:
		return p, refuse("InvalidParameterValue",
			"The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI.",
			p.Type.Arch, image.Arch)
	case !p.Type.OfferedIn(p.Subnet.Zone.Name):
		return p, refuse("InvalidFleetConfiguration",
			"Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", p.Type.Name,
			p.Subnet.Zone.Name)
	}
	p.override.Zone, p.override.SubnetID = p.Subnet.Zone.Name, p.Subnet.ID
	return p, nil
}

// cost returns the sort key of a pool: the lowest comes first.
func (p Pool) cost(strategy string) float64 {
	switch {
	case strategy == "prioritized" || strategy == "capacity-optimized-prioritized":
		if p.override.Priority == 0 {
			return math.MaxFloat64 // no priority: last
		}
		return p.override.Priority
	case p.Capacity == Spot: // all pools are equally deep here, so only the price counts
		return p.Type.SpotPrice(p.Subnet.Zone.Name)
	default:
		return p.Type.Price
	}
}
