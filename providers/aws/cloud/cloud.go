package cloud

import (
	"fmt"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Settings holds the settings of a region. All are optional.
type Settings struct {
	Region  string // default us-east-1: the catalogue has its prices
	Account string // default 111122223333, as in AWS's documents
}

// Cloud is a region of a simulated AWS, with one account.
type Cloud struct {
	settings Settings
	base     *simulator.Base
	fleet    *simulator.Fleet[*Instance]
	types    []*Type
	zones    []Zone

	mu        sync.Mutex
	subnets   []*Subnet
	groups    []*Group
	releases  []release // of images, the newest last
	images    map[string]*Image
	profiles  map[string]*Profile
	templates map[string]*Template // by name
	fleets    map[string]*Fleet    // by client token
	addresses int                  // given to instances so far

	queue queue
}

// New returns a region with a subnet in each zone, a security group, two releases of each
// image, and no instances.
func New(b *simulator.Base, s Settings) (*Cloud, error) {
	if s.Region == "" {
		s.Region = "us-east-1"
	}
	if s.Account == "" {
		s.Account = "111122223333"
	}
	types, err := readCatalogue(catalogue, s.Region)
	if err != nil {
		return nil, err
	}
	c := &Cloud{
		settings: s, base: b, fleet: simulator.NewFleet[*Instance](b), types: types, zones: zonesOf(s.Region),
		images: map[string]*Image{}, profiles: map[string]*Profile{}, templates: map[string]*Template{},
		fleets: map[string]*Fleet{},
	}
	c.fleet.Remember(remembered)
	c.fleet.OnChange(c.entered)
	c.queue.changed = make(chan struct{})
	c.releases = []release{firstRelease(), firstRelease().next()}
	c.Reset()
	return c, nil
}

// Fleet returns the region's instances.
func (c *Cloud) Fleet() *simulator.Fleet[*Instance] { return c.fleet }

// Region returns the region's name, such as us-east-1.
func (c *Cloud) Region() string { return c.settings.Region }

// Account returns the account's number.
func (c *Cloud) Account() string { return c.settings.Account }

// Types returns the region's instance types.
func (c *Cloud) Types() []*Type { return c.types }

// typeNamed returns the instance type of a name, or nil.
func (c *Cloud) typeNamed(name string) *Type {
	for _, t := range c.types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// newID returns an ID in EC2's format: 17 hexadecimal digits after the prefix.
func (c *Cloud) newID(prefix string) string {
	return fmt.Sprintf("%s-0%016x", prefix, c.base.Random.Uint64())
}

// now returns the time in whole seconds, as AWS reports it.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
