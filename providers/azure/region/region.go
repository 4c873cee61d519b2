// Package region holds what Azure has in a region: sizes of virtual machines, zones, quotas and
// images.
package region

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Region is a region as one subscription sees it.
type Region struct {
	Name  string
	Sizes []*Size

	mu       sync.Mutex
	limits   map[string]int
	releases int
}

// Names of quotas besides those of the families. SpotCores covers spot virtual machines of all
// families, and Cores all others.
const (
	Cores     = "cores"
	SpotCores = "lowPriorityCores"
)

// enough is the limit of every quota that nobody has limited, in CPUs.
const enough = 100_000

// New returns a region with one release of its images and enough quota.
func New(name string) *Region {
	r := &Region{Name: name, Sizes: sizes(), releases: 1}
	r.Reset()
	return r
}

// Reset gives all quotas back.
func (r *Region) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits = map[string]int{Cores: enough, SpotCores: enough}
	for _, s := range r.Sizes {
		r.limits[s.Family] = enough
	}
}

// Size returns the size of a name, or nil.
func (r *Region) Size(name string) *Size {
	if n := slices.IndexFunc(r.Sizes, func(s *Size) bool { return s.Name == name }); n >= 0 {
		return r.Sizes[n]
	}
	return nil
}

// Zones returns the availability zones as ARM names them.
func (r *Region) Zones() []string { return []string{"1", "2", "3"} }

// ZoneLabel returns the zone's name in labels. Virtual machines outside of all zones have zone 0.
func (r *Region) ZoneLabel(zone string) string {
	if zone == "" {
		return "0"
	}
	return r.Name + "-" + zone
}

// Limits returns the limit of each quota, in CPUs.
func (r *Region) Limits() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.limits)
}

// Limit changes a quota.
func (r *Region) Limit(quota string, cpus int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.limits[quota]; !there {
		return fmt.Errorf("there is no quota %q; use one of %q", quota, slices.Sorted(maps.Keys(r.limits)))
	}
	r.limits[quota] = cpus
	return nil
}

// Release is a release of all images.
type Release struct {
	Version   string // such as 202606.01.0
	Published time.Time
}

// Releases returns those of the images, oldest first.
func (r *Region) Releases() []Release {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Release, r.releases)
	for n := range all {
		day := time.Date(2026, time.June, 1+n, 0, 0, 0, 0, time.UTC)
		all[n] = Release{day.Format("200601.02") + ".0", day}
	}
	return all
}

// Publish releases all images again.
func (r *Region) Publish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.releases++
}
