// Package pools is the API of AKS's agent pools in front of a group of virtual machines: a pool is a scale set of one
// virtual machine.
package pools

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/machines"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Kind is the kind of agent pools.
const Kind = machines.Pools

// Door answers calls.
type Door struct {
	Region *region.Region
	Group  *vm.Group
	Store  *arm.Store
	// Nodes is the path of the virtual machines' resource group.
	Nodes string
}

// Calls returns the special calls about agent pools.
func (d *Door) Calls() map[string]arm.Call {
	return map[string]arm.Call{"PUT " + Kind + "/*": d.put, "GET " + Kind + "/*": d.get, "DELETE " + Kind + "/*": d.remove}
}

// parameters is the part of an agent pool's description that the simulator acts on.
type parameters struct {
	AvailabilityZones []string
	Count             int
	OSDiskSizeGB      int
	ScaleSetPriority  string
	VMSize            string
	machines.Kubernetes
}

// put creates an agent pool, or tries again to create one that has failed. Of another, it replaces the description.
func (d *Door) put(r *arm.Request) (arm.Answer, error) {
	var body arm.Object
	var all struct{ Properties parameters }
	if err := r.Decode(&body); err != nil {
		return arm.Answer{}, err
	}
	if err := r.Decode(&all); err != nil {
		return arm.Answer{}, err
	}
	switch state := d.state(r.ID); state {
	case "Creating", "Deleting":
		operation := map[string]string{"Creating": "create", "Deleting": "delete"}[state]
		return arm.Answer{}, arm.Errorf(http.StatusConflict, "OperationNotAllowed", "Operation is not allowed because "+
			"there's an in progress %s node pool operation on %s.", operation, r.ID.Name())
	case "Succeeded":
		o, _ := d.Store.Patch(r.ID, body)
		return arm.Answer{Body: o}, nil
	}
	v, err := d.read(r.ID, all.Properties)
	if err != nil {
		return arm.Answer{}, err
	}
	releases := d.Region.Releases()
	properties := arm.Merge(arm.Properties(body), arm.Object{
		"provisioningState": "Creating", "powerState": arm.Object{"code": "Running"},
		"nodeImageVersion": "AKSUbuntu-2404gen2containerd-" + region.Version(releases[len(releases)-1]),
	})
	v.Copied = func(other *vm.VM) { d.copied(other, r.ID.Parent(), all.Properties, properties) }
	o, _ := d.Store.Put(r.ID, arm.Object{"properties": properties})
	// AKS accepts an agent pool for which there is no capacity. It says later that it has failed.
	if lack := cmp.Or(d.Group.CheckQuota(v), d.Group.CheckCapacity(v)); lack != nil {
		why := arm.Object{"provisioningState": "Failed", "status": arm.Object{"provisioningError": lack}}
		d.Store.Patch(r.ID, arm.Object{"properties": why})
	} else if err := d.Group.Create(v); err != nil {
		d.Store.Delete(r.ID)
		return arm.Answer{}, err
	}
	return arm.Answer{Status: http.StatusCreated, Body: o, Begun: r.ID.Path}, nil
}

// state returns how far an agent pool is; empty: there is none.
func (d *Door) state(id arm.ID) string {
	o, _ := d.Store.Get(id)
	state, _ := arm.Properties(o)["provisioningState"].(string)
	return state
}

// read returns the virtual machine of an agent pool.
func (d *Door) read(pool arm.ID, p parameters) (*vm.VM, error) {
	v := &vm.VM{
		ID: d.machine(pool), Region: d.Region, Size: d.Region.Size(p.VMSize), Spot: p.ScaleSetPriority == "Spot",
		DiskGB: p.OSDiskSizeGB, With: []arm.ID{pool},
	}
	v.Kubelet = func() (simulator.Kubelet, error) { return p.Kubelet(pool, v) }
	if v.Size == nil {
		return nil, arm.Errorf(http.StatusBadRequest, "VMSizeNotSupported",
			"Virtual Machine size: '%s' is not supported.", p.VMSize)
	}
	if p.Count != 1 {
		return nil, arm.Errorf(http.StatusBadRequest, "InvalidParameter",
			"The simulator makes agent pools of one node, not of %d.", p.Count)
	}
	if len(p.AvailabilityZones) > 0 {
		v.Zone = p.AvailabilityZones[0]
	}
	return v, nil
}

// machine returns the virtual machine in the scale set of an agent pool.
func (d *Door) machine(pool arm.ID) arm.ID {
	const path = "%s/providers/Microsoft.Compute/virtualMachineScaleSets/aks-%s-12345678-vmss/virtualMachines/0"
	return arm.Parse(fmt.Sprintf(path, d.Nodes, pool.Name()))
}

// copied makes an agent pool of a cluster for a copy of a virtual machine. Its name may have 12 characters.
func (d *Door) copied(other *vm.VM, cluster arm.ID, p parameters, properties arm.Object) {
	now := strconv.FormatInt(time.Now().UnixNano(), 36)
	pool := arm.Parse(cluster.Path + "/agentPools/l" + now[len(now)-11:])
	other.ID, other.With = d.machine(pool), []arm.ID{pool}
	other.Kubelet = func() (simulator.Kubelet, error) { return p.Kubelet(pool, other) }
	d.Store.Put(pool, arm.Object{"properties": properties})
}

func (d *Door) get(r *arm.Request) (arm.Answer, error) {
	o, there := d.Store.Get(r.ID)
	if !there {
		return arm.Answer{}, arm.Errorf(http.StatusNotFound, "NotFound", "Agent Pool not found")
	}
	return arm.Answer{Body: o}, nil
}

// remove deletes an agent pool with its virtual machine.
func (d *Door) remove(r *arm.Request) (arm.Answer, error) {
	if _, there := d.Store.Patch(r.ID, arm.Object{"properties": arm.Object{"provisioningState": "Deleting"}}); !there {
		return arm.Answer{Status: http.StatusNoContent}, nil
	}
	if !d.Group.Terminate((&vm.VM{ID: d.machine(r.ID)}).Name()) {
		d.Store.Delete(r.ID) // it has failed
	}
	return arm.Answer{Status: http.StatusAccepted, Begun: r.ID.Path}, nil
}
