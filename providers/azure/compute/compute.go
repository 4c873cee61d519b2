// Package compute is Microsoft.Compute in front of a group of virtual machines. It only translates
// JSON.
package compute

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Machines is the kind of virtual machines.
const Machines = "microsoft.compute/virtualmachines"

// door answers calls.
type door struct {
	region *region.Region
	group  *vm.Group
	store  *arm.Store
}

// Calls returns the special calls of Microsoft.Compute.
func Calls(r *region.Region, g *vm.Group, s *arm.Store) map[string]arm.Call {
	d := &door{r, g, s}
	return map[string]arm.Call{
		"GET microsoft.compute/skus":                                         d.skus,
		"GET microsoft.compute/locations/usages":                             d.usages,
		"GET microsoft.compute/locations/communitygalleries/images/versions": d.versions,
		"PUT " + Machines + "/*":                                             d.put,
		"DELETE " + Machines + "/*":                                          d.remove,
	}
}

func (d *door) skus(*arm.Request) (arm.Answer, error) {
	all := []arm.Object{}
	for _, s := range d.region.Sizes {
		capabilities := []arm.Object{}
		for name, value := range s.Capabilities() {
			capabilities = append(capabilities, arm.Object{"name": name, "value": value})
		}
		all = append(all, arm.Object{
			"name": s.Name, "tier": "Standard", "size": strings.TrimPrefix(s.Name, "Standard_"), "family": s.Family,
			"resourceType": "virtualMachines", "locations": []string{d.region.Name},
			"locationInfo": []arm.Object{{"location": d.region.Name, "zones": d.region.Zones()}},
			"capabilities": capabilities, "restrictions": []arm.Object{},
		})
	}
	return arm.List(all), nil
}

func (d *door) usages(*arm.Request) (arm.Answer, error) {
	all, used := []arm.Object{}, d.group.Usage()
	for quota, limit := range d.region.Limits() {
		all = append(all, arm.Object{
			"name": arm.Object{"value": quota}, "unit": "Count", "currentValue": used[quota], "limit": limit,
		})
	}
	return arm.List(all), nil
}

// versions lists the releases of any image: all have the same.
func (d *door) versions(*arm.Request) (arm.Answer, error) {
	all := []arm.Object{}
	for _, day := range d.region.Releases() {
		published := arm.Object{"publishedDate": day.Format(time.RFC3339)}
		all = append(all, arm.Object{"name": region.Version(day), "location": d.region.Name, "properties": published})
	}
	return arm.List(all), nil
}

// put creates a virtual machine. Of one that is there, it changes nothing.
func (d *door) put(r *arm.Request) (arm.Answer, error) {
	if _, state, there := d.group.Get(r.ID.Name()); there {
		if state == simulator.ShuttingDown {
			return arm.Answer{}, arm.Errorf(http.StatusConflict, "OperationNotAllowed",
				"The virtual machine %s is being deleted.", r.ID.Name())
		}
		o, _ := d.store.Get(r.ID)
		return arm.Answer{Body: o}, nil
	}
	v, err := d.read(r)
	if err != nil {
		return arm.Answer{}, err
	}
	for _, step := range []func(*vm.VM) error{d.group.CheckQuota, d.group.CheckCapacity, d.group.Create} {
		if err := step(v); err != nil {
			return arm.Answer{}, err
		}
	}
	o, _ := d.store.Get(r.ID)
	return arm.Answer{Status: http.StatusCreated, Body: o, Begun: r.ID.Path}, nil
}

// parameters is the part of a virtual machine's description that the simulator acts on.
type parameters struct {
	Zones      []string
	Properties struct {
		HardwareProfile struct{ VMSize string }
		OSProfile       struct{ CustomData string }
		StorageProfile  struct{ OSDisk struct{ DiskSizeGB int } }
		NetworkProfile  struct{ NetworkInterfaces []struct{ ID string } }
		Priority        string
	}
}

// read returns the virtual machine that a request describes.
func (d *door) read(r *arm.Request) (*vm.VM, error) {
	var all parameters
	v := &vm.VM{ID: r.ID, Region: d.region}
	if err := r.Decode(&all); err != nil {
		return nil, err
	}
	if err := r.Decode(&v.Resource); err != nil {
		return nil, err
	}
	if profile, is := arm.Properties(v.Resource)["osProfile"].(arm.Object); is {
		delete(profile, "customData") // which ARM never shows
	}
	p := all.Properties
	v.Spot, v.DiskGB = p.Priority == "Spot", p.StorageProfile.OSDisk.DiskSizeGB
	v.Kubelet = func() (simulator.Kubelet, error) { return vm.CustomData(p.OSProfile.CustomData) }
	if v.Size = d.region.Size(p.HardwareProfile.VMSize); v.Size == nil {
		return nil, arm.Errorf(http.StatusBadRequest, "InvalidParameter",
			"The value %s provided for the VM size is not valid.", p.HardwareProfile.VMSize)
	}
	if len(all.Zones) > 0 {
		v.Zone = all.Zones[0]
	}
	if v.Zone != "" && !slices.Contains(d.region.Zones(), v.Zone) {
		return nil, arm.Errorf(http.StatusBadRequest, "InvalidAvailabilityZone", "The zone %s is not valid.", v.Zone)
	}
	for _, nic := range p.NetworkProfile.NetworkInterfaces {
		id := arm.Parse(nic.ID)
		if _, there := d.store.Get(id); !there {
			return nil, arm.Errorf(http.StatusNotFound, "NotFound", "Resource %s not found.", nic.ID)
		}
		v.With = append(v.With, id)
	}
	return v, nil
}

func (d *door) remove(r *arm.Request) (arm.Answer, error) {
	if !d.group.Terminate(r.ID.Name()) {
		return arm.Answer{Status: http.StatusNoContent}, nil
	}
	return arm.Answer{Status: http.StatusAccepted, Begun: r.ID.Path}, nil
}
