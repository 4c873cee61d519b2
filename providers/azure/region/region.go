// Package region holds what Azure has in a region: sizes of virtual machines, zones, quotas and
// images.
package region

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Region is a region as one subscription sees it.
type Region struct {
	Name  string
	Sizes []*Size

	releases atomic.Int32 // after the first
	mu       sync.Mutex
	limits   map[string]int
}

// Cores is the quota of all virtual machines, besides those of their families. SpotCores is the
// only one of spot virtual machines.
const (
	Cores     = "cores"
	SpotCores = "lowPriorityCores"
)

// enough is the limit of every quota that nobody has limited, in CPUs.
const enough = 100_000

// New returns a region with one release of its images and enough quota.
func New(name string) *Region {
	r := &Region{Name: name, Sizes: sizes()}
	r.Reset()
	return r
}

// Reset lifts the limits of all quotas.
func (r *Region) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits = map[string]int{Cores: enough, SpotCores: enough}
	for _, s := range r.Sizes {
		r.limits[s.Family] = enough
	}
}

// Limit changes a quota.
func (r *Region) Limit(quota string, cpus int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.limits[quota]; !there {
		return fmt.Errorf("there is no quota %q; there are %q", quota, slices.Sorted(maps.Keys(r.limits)))
	}
	r.limits[quota] = cpus
	return nil
}

// Limits returns all quotas, in CPUs.
func (r *Region) Limits() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.limits)
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

// ZoneLabel returns the zone's name in labels. Virtual machines in no zone have zone 0.
func (r *Region) ZoneLabel(zone string) string {
	if zone == "" {
		return "0"
	}
	return r.Name + "-" + zone
}

// Publish releases all images again.
func (r *Region) Publish() { r.releases.Add(1) }

// Releases returns the days on which all images were released, the latest last.
func (r *Region) Releases() []time.Time {
	days := make([]time.Time, 1+r.releases.Load())
	for n := range days {
		days[n] = time.Date(2026, time.June, 1+n, 0, 0, 0, 0, time.UTC)
	}
	return days
}

// Version returns the version of the images of a day.
func Version(day time.Time) string { return day.Format("200601.02") + ".0" }
