package vm

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Group holds the virtual machines of a subscription, which are also in its store.
type Group struct {
	*simulator.Fleet[*VM]

	region *region.Region
	store  *arm.Store
	faults *simulator.Faults
}

// NewGroup returns a group without virtual machines.
func NewGroup(b *simulator.Base, r *region.Region, store *arm.Store) *Group {
	g := &Group{simulator.NewFleet[*VM](b), r, store, b.Faults}
	g.OnChange(func(v *VM, s simulator.State) {
		switch s {
		case simulator.Running:
			g.show(v, "Succeeded")
		case simulator.ShuttingDown:
			g.show(v, "Deleting")
		case simulator.Terminated:
			for _, id := range append(v.With, v.ID) {
				store.Delete(id)
			}
		case simulator.Pending: // Create shows it
		}
	})
	return g
}

// show changes the state that the store shows of a virtual machine and of what belongs to it. One
// that nobody asked for, such as a leaked one, comes into the store when it runs.
func (g *Group) show(v *VM, state string) {
	change, there := arm.Object{"properties": arm.Object{"provisioningState": state}}, false
	for _, id := range append(v.With, v.ID) {
		_, there = g.store.Patch(id, change)
	}
	if !there && state == "Succeeded" {
		g.put(v, state)
	}
}

func (g *Group) put(v *VM, state string) {
	properties := arm.Merge(arm.Properties(v.Resource), arm.Object{
		"provisioningState": state, "timeCreated": time.Now().UTC().Format(time.RFC3339Nano), "vmId": v.Name(),
	})
	g.store.Put(v.ID, arm.Merge(v.Resource, arm.Object{"location": v.Region.Name, "properties": properties}))
}

// Create launches a virtual machine.
func (g *Group) Create(v *VM) error {
	g.put(v, "Creating")
	return g.Launch(v)
}

// Usage returns how many CPUs of each quota are used.
func (g *Group) Usage() map[string]int {
	used := map[string]int{}
	for _, e := range g.Living() {
		for _, quota := range e.Instance.quotas() {
			used[quota] += e.Instance.Size.CPUs
		}
	}
	return used
}

// quotas returns the names of those that the virtual machine uses.
func (v *VM) quotas() []string {
	if v.Spot {
		return []string{region.SpotCores}
	}
	return []string{v.Size.Family, region.Cores}
}

// CheckQuota returns the error about a quota that a new virtual machine would exceed, or nil.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-resource-quota.
func (g *Group) CheckQuota(v *VM) error {
	limits, used := g.region.Limits(), g.Usage()
	for _, quota := range v.quotas() {
		if used[quota]+v.Size.CPUs <= limits[quota] {
			continue
		}
		names := map[string]string{region.Cores: "Total Regional Cores", region.SpotCores: "LowPriorityCores"}
		return arm.Errorf(http.StatusConflict, "OperationNotAllowed", "Operation could not be completed as it results in "+
			"exceeding approved %s quota. Location: %s, Current Limit: %d, Current Usage: %d, Additional Required: %d.",
			cmp.Or(names[quota], quota+" Cores"), g.region.Name, limits[quota], used[quota], v.Size.CPUs)
	}
	return nil
}

// CheckCapacity returns the error about a lack of capacity for a new virtual machine, or nil. Its
// code says whether other zones and the other capacity type would do.
// Source: https://learn.microsoft.com/troubleshoot/azure/virtual-machines/allocation-failure.
func (g *Group) CheckCapacity(v *VM) error {
	takes := g.faults.Shortages()
	lacks := func(zone string, spot bool) bool {
		capacity := map[bool]string{true: "spot", false: "on-demand"}[spot]
		return takes(simulator.Offering{Type: v.Size.Name, Zone: v.Region.ZoneLabel(zone), CapacityType: capacity})
	}
	if !lacks(v.Zone, v.Spot) {
		return nil
	}
	anywhere := !slices.ContainsFunc(v.Region.Zones(), func(zone string) bool { return !lacks(zone, v.Spot) })
	code := map[[2]bool]string{ // by whether zones and capacity types all lack capacity
		{true, true}: "AllocationFailed", {true, false}: "OverconstrainedAllocationRequest",
		{false, true}: "ZonalAllocationFailed", {false, false}: "OverconstrainedZonalAllocationRequest",
	}[[2]bool{anywhere || v.Zone == "", lacks(v.Zone, !v.Spot)}]
	return arm.Errorf(http.StatusConflict, code, "Allocation failed. There is not enough capacity for %s in zone %s.",
		v.Size.Name, v.Region.ZoneLabel(v.Zone))
}
