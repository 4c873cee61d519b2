// Package machines is the AKS machine API in front of a group of virtual machines: AKS makes one
// for each machine, from a description of its kubelet in place of custom data.
package machines

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Pools and Kind are the kinds of agent pools and of the machines in them.
const (
	Pools = "microsoft.containerservice/managedclusters/agentpools"
	Kind  = Pools + "/machines"
)

// Door answers calls.
type Door struct {
	Region *region.Region
	Group  *vm.Group
	Store  *arm.Store
	// Nodes is the path of the virtual machines' resource group.
	Nodes string
}

// Calls returns the special calls of Microsoft.ContainerService.
func (d *Door) Calls() map[string]arm.Call {
	return map[string]arm.Call{
		"GET microsoft.containerservice/locations/nodeimageversions": d.images,
		"PUT " + Kind + "/*":                d.put,
		"POST " + Pools + "/deletemachines": d.remove,
	}
}

// family is the one of the images.
const family = "AKSUbuntu"

// images lists the latest release of each image.
func (d *Door) images(*arm.Request) (arm.Answer, error) {
	releases, all := d.Region.Releases(), []arm.Object{}
	version := region.Version(releases[len(releases)-1])
	for _, sku := range []string{"2404gen2containerd", "2404containerd", "2204gen2containerd", "2204containerd"} {
		all = append(all, arm.Object{
			"os": family, "sku": sku, "version": version, "fullName": family + "-" + sku + "-" + version,
		})
	}
	return arm.List(all), nil
}

// parameters is the part of a machine's description that the simulator acts on.
type parameters struct {
	Zones      []string
	Properties struct {
		Hardware        struct{ VMSize string }
		OperatingSystem struct{ OSDiskSizeGB int }
		Priority        string
		Tags            arm.Object
		Kubernetes      Kubernetes
	}
}

// put creates a machine. Of one that is there, it changes the tags.
func (d *Door) put(r *arm.Request) (arm.Answer, error) {
	var all parameters
	var body arm.Object
	if err := r.Decode(&all); err != nil {
		return arm.Answer{}, err
	}
	if err := r.Decode(&body); err != nil {
		return arm.Answer{}, err
	}
	p := all.Properties
	if o, there := d.Store.Patch(r.ID, arm.Object{"properties": arm.Object{"tags": p.Tags}}); there {
		return arm.Answer{Body: o}, nil
	}
	pool := r.ID.Parent()
	v := &vm.VM{
		ID: arm.Parse(fmt.Sprintf("%s/providers/Microsoft.Compute/virtualMachines/aks-%s-%s-12345678-vm", d.Nodes,
			pool.Name(), r.ID.Name())),
		Region: d.Region, Size: d.Region.Size(p.Hardware.VMSize), Spot: p.Priority == "Spot",
		DiskGB: p.OperatingSystem.OSDiskSizeGB, Resource: arm.Object{"tags": p.Tags}, With: []arm.ID{r.ID},
	}
	if v.Size == nil {
		return arm.Answer{}, arm.Errorf(http.StatusBadRequest, "VMSizeNotSupported",
			"Virtual Machine size: '%s' is not supported.", p.Hardware.VMSize)
	}
	if len(all.Zones) > 0 {
		v.Zone = all.Zones[0]
	}
	v.Kubelet = func() (simulator.Kubelet, error) {
		kubelet, err := p.Kubernetes.Kubelet(pool, v)
		kubelet.Labels["karpenter.sh/do-not-sync-taints"] = "true"
		return kubelet, err
	}
	status := arm.Object{"vmState": "Running"}
	properties := arm.Merge(arm.Properties(body), arm.Object{"eTag": "1", "provisioningState": "Creating"})
	show := func(id arm.ID, of *vm.VM) arm.Object {
		created := arm.Object{"creationTimestamp": time.Now().UTC().Format(time.RFC3339)}
		properties := arm.Merge(properties, arm.Object{"resourceId": of.ID.Path, "status": arm.Merge(status, created)})
		o, _ := d.Store.Put(id, arm.Merge(body, arm.Object{"properties": properties}))
		return o
	}
	v.Copied = func(other *vm.VM) {
		other.With = []arm.ID{arm.Parse(r.ID.Path + "-" + other.Name())}
		show(other.With[0], other)
	}
	// AKS accepts a machine for which there is no capacity. It says later that it has failed.
	if lack := cmp.Or(d.Group.CheckQuota(v), d.Group.CheckCapacity(v)); lack != nil {
		status["provisioningError"], properties["provisioningState"] = lack, "Failed"
	} else if err := d.Group.Create(v); err != nil {
		return arm.Answer{}, err
	}
	return arm.Answer{Status: http.StatusCreated, Body: show(r.ID, v), Begun: r.ID.Path}, nil
}

// remove deletes machines. The deletion of the last one is followed.
func (d *Door) remove(r *arm.Request) (arm.Answer, error) {
	var p struct{ MachineNames []string }
	if err := r.Decode(&p); err != nil {
		return arm.Answer{}, err
	}
	a := arm.Answer{Status: http.StatusAccepted}
	for _, name := range p.MachineNames {
		id := arm.Parse(strings.TrimSuffix(r.ID.Key(), "deletemachines") + "machines/" + name)
		o, there := d.Store.Get(id)
		if !there {
			return arm.Answer{}, arm.Errorf(http.StatusBadRequest, "InvalidParameter",
				"Cannot find any valid machines to delete. Please check your input machine names.")
		}
		machine, _ := arm.Properties(o)["resourceId"].(string)
		if !d.Group.Terminate(arm.Parse(machine).Name()) {
			d.Store.Delete(id) // it has failed
		}
		a.Begun = id.Path
	}
	return a, nil
}

// Drift says that AKS would make the machine of a virtual machine otherwise now.
func (d *Door) Drift(_ *http.Request, id string) (any, error) {
	v, err := d.Group.Find(id)
	if err != nil {
		return nil, err
	}
	for _, machine := range v.With {
		o, _ := d.Store.Get(machine)
		if status, is := arm.Properties(o)["status"].(arm.Object); is {
			status = arm.Merge(status, arm.Object{"driftAction": "Recreate"})
			d.Store.Patch(machine, arm.Object{"properties": arm.Object{"status": status}})
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%s is no machine's", id)
}
