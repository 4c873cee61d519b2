package cloud

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Zone is an availability zone. Its ID is the same for every account, its name is not.
type Zone struct{ Name, ID string }

func zonesOf(region string) []Zone {
	var zones []Zone
	for n, letter := range "abc" {
		zones = append(zones, Zone{Name: region + string(letter), ID: fmt.Sprintf("%s-az%d", shortRegion(region), n+1)})
	}
	return zones
}

// shortRegion returns a region as zone IDs contain it: use1 for us-east-1.
func shortRegion(region string) string {
	parts := strings.Split(region, "-")
	if len(parts) != 3 {
		return region
	}
	return parts[0] + parts[1][:1] + parts[2]
}

// Discovery is the tag that selects subnets and security groups in Karpenter's examples.
const Discovery = "karpenter.sh/discovery"

// vpc is the ID of the only VPC.
const vpc = "vpc-0123456789abcdef0"

// addressesPerSubnet is the number of addresses in a /20, without the five that AWS reserves.
const addressesPerSubnet = 4091

// Subnet is a subnet of the region's VPC.
type Subnet struct {
	ID   string
	Zone Zone
	Free int // addresses left
	Tags map[string]string
}

// Group is a security group.
type Group struct {
	ID, Name string
	Tags     map[string]string
}

func (s *Subnet) tags() map[string]string { return s.Tags }
func (g *Group) tags() map[string]string  { return g.Tags }

func (s *Subnet) attribute(name string) ([]string, bool) {
	switch name {
	case "subnet-id":
		return []string{s.ID}, true
	case "vpc-id":
		return []string{vpc}, true
	case "availability-zone", "availabilityZone":
		return []string{s.Zone.Name}, true
	case "availability-zone-id":
		return []string{s.Zone.ID}, true
	case "state":
		return []string{"available"}, true
	case "available-ip-address-count":
		return []string{strconv.Itoa(s.Free)}, true
	}
	return nil, false
}

func (g *Group) attribute(name string) ([]string, bool) {
	switch name {
	case "group-id":
		return []string{g.ID}, true
	case "group-name":
		return []string{g.Name}, true
	case "vpc-id":
		return []string{vpc}, true
	}
	return nil, false
}

// VPC returns the ID of the only VPC.
func (c *Cloud) VPC() string { return vpc }

// Subnets returns the subnets that match.
func (c *Cloud) Subnets(ids []string, filters []Filter) ([]Subnet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	some, err := chosen(c.subnets, ids, func(s *Subnet) string { return s.ID }, func(id string) error {
		return refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	return copies(applyFilters(some, filters))
}

// Groups returns the security groups that match.
func (c *Cloud) Groups(ids []string, filters []Filter) ([]Group, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	some, err := chosen(c.groups, ids, func(g *Group) string { return g.ID }, func(id string) error {
		return refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	return copies(applyFilters(some, filters))
}

// copies returns the values behind pointers, so that later changes do not reach the callers.
func copies[T any](pointers []*T, err error) ([]T, error) {
	values := make([]T, len(pointers))
	for n, p := range pointers {
		values[n] = *p
	}
	return values, err
}

// SetSubnets sets one subnet in each zone of the letters, such as "ab"; "" removes all.
// Subnets that stay keep their IDs.
func (c *Cloud) SetSubnets(letters string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.subnets
	c.subnets = nil
	for n, zone := range c.zones {
		if !strings.Contains(letters, zone.Name[len(zone.Name)-1:]) {
			continue
		}
		s := &Subnet{
			ID: fmt.Sprintf("subnet-0%016x", n+1), Zone: zone, Free: addressesPerSubnet,
			Tags: map[string]string{Discovery: "plumbline"},
		}
		if at := slices.IndexFunc(before, func(b *Subnet) bool { return b.ID == s.ID }); at >= 0 {
			s = before[at]
		}
		c.subnets = append(c.subnets, s)
	}
}

// SetGroups sets the number of security groups.
func (c *Cloud) SetGroups(count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups = nil
	for n := range count {
		c.groups = append(c.groups, &Group{
			ID: fmt.Sprintf("sg-0%016x", n+1), Name: fmt.Sprintf("nodes-%d", n+1),
			Tags: map[string]string{Discovery: "plumbline"},
		})
	}
}

// Reset restores the network of a new region. It keeps released images and instances.
func (c *Cloud) Reset() {
	c.SetSubnets("abc")
	c.SetGroups(1)
}
