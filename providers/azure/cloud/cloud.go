// Package cloud puts the parts of the simulated Azure together.
package cloud

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/arm/graph"
	"github.com/plumbline-e2e/plumbline/providers/azure/compute"
	"github.com/plumbline-e2e/plumbline/providers/azure/machines"
	"github.com/plumbline-e2e/plumbline/providers/azure/pools"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// Settings say what there is from the start.
type Settings struct {
	Region string
	Subnet string // path of the nodes' subnet
	Group  string // path of the nodes' resource group
	Pool   string // path of the agent pool of machines; empty: none
}

// cloud is a subscription in a region.
type cloud struct {
	Settings
	region *region.Region
	store  *arm.Store
	group  *vm.Group
	faults *simulator.Faults
}

// Kinds of resources that are no more than their JSON.
const (
	nics     = "microsoft.network/networkinterfaces"
	networks = "microsoft.network/virtualnetworks"
	balancer = "microsoft.network/loadbalancers"
	security = "microsoft.network/networksecuritygroups"
)

// New returns a subscription in a region.
func New(b *simulator.Base, s Settings) simulator.Cloud {
	c := &cloud{Settings: s, region: region.New(s.Region), store: arm.NewStore(), faults: b.Faults}
	c.group = vm.NewGroup(b, c.region, c.store)
	c.reset()
	calls := compute.Calls(c.region, c.group, c.store)
	aks := &machines.Door{Region: c.region, Group: c.group, Store: c.store, Nodes: s.Group}
	maps.Copy(calls, aks.Calls())
	maps.Copy(calls, (&pools.Door{Region: c.region, Group: c.group, Store: c.store, Nodes: s.Group}).Calls())
	calls["GET /msi/token"] = token
	calls["POST microsoft.resourcegraph/resources"] = c.query
	calls["DELETE "+nics+"/*"] = c.deleteNIC
	server := &arm.Server{
		Calls: calls, Store: c.store, Base: b,
		Kinds: []string{
			compute.Machines, compute.Machines + "/extensions", nics, networks, networks + "/subnets", balancer, security,
			pools.Kind, machines.Kind,
		},
	}
	b.Faults.Know(server.Names()...)
	return simulator.Cloud{
		Handler:   server,
		Instances: c.group,
		Launches:  []string{"PUT " + compute.Machines + "/*", "PUT " + machines.Kind + "/*", "PUT " + pools.Kind + "/*"},
		Hooks: map[string]simulator.Hook{
			"POST /_sim/images": func(*http.Request) (any, error) { c.region.Publish(); return c.region.Releases(), nil },
			"PUT /_sim/quotas":  c.limit,
			"POST /_sim/drift":  simulator.About(aks.Drift),
		},
		Reset: c.reset,
	}
}

// reset restores quotas and the network of the cluster.
func (c *cloud) reset() {
	c.region.Reset()
	put := func(path string, properties arm.Object) {
		c.store.Put(arm.Parse(path), arm.Object{"properties": properties})
	}
	put(c.Subnet, arm.Object{"addressPrefix": "10.1.0.0/16"})
	put(arm.Parse(c.Subnet).Parent().Path, arm.Object{"resourceGuid": "11111111-2222-3333-4444-555555555555"})
	at := c.Group + "/providers/Microsoft.Network/"
	put(at+"networkSecurityGroups/aks-agentpool-12345678-nsg", nil)
	if c.Pool != "" {
		put(c.Pool, arm.Object{"type": "VirtualMachines", "mode": "User"})
	}
	backends := []arm.Object{}
	for _, name := range []string{"kubernetes", "aksOutboundBackendPool"} {
		path := at + "loadBalancers/kubernetes/backendAddressPools/" + name
		backends = append(backends, arm.Object{"id": path, "name": name, "properties": arm.Object{}})
	}
	put(at+"loadBalancers/kubernetes", arm.Object{"backendAddressPools": backends})
}

// limit changes the quota ?quota= to ?cpus=.
func (c *cloud) limit(r *http.Request) (any, error) {
	cpus, err := strconv.Atoi(r.FormValue("cpus"))
	if err != nil {
		return nil, fmt.Errorf("?cpus= must be a number: %w", err)
	}
	return nil, c.region.Limit(r.FormValue("quota"), cpus)
}

// token answers as the endpoint of managed identities does. Nobody verifies the token.
func token(r *arm.Request) (arm.Answer, error) {
	const long = 10 * 365 * 24 * time.Hour // clocks of clusters may run fast
	return arm.Answer{Body: arm.Object{
		"access_token": "simulated", "token_type": "Bearer", "resource": r.FormValue("resource"),
		"expires_on": strconv.FormatInt(time.Now().Add(long).Unix(), 10),
	}}, nil
}

// query answers a query of Azure Resource Graph.
func (c *cloud) query(r *arm.Request) (arm.Answer, error) {
	var p struct{ Query string }
	if err := r.Decode(&p); err != nil {
		return arm.Answer{}, err
	}
	q, err := graph.Parse(p.Query)
	if err != nil {
		return arm.Answer{}, err
	}
	data := slices.DeleteFunc(c.store.List(q.Type, "", c.faults.Stale()), func(o arm.Object) bool { return !q.Matches(o) })
	return arm.Answer{Body: arm.Object{
		"totalRecords": len(data), "count": len(data), "resultTruncated": "false", "data": data,
	}}, nil
}

// deleteNIC deletes a NIC unless a virtual machine uses it.
func (c *cloud) deleteNIC(r *arm.Request) (arm.Answer, error) {
	for _, e := range c.group.Living() {
		if slices.ContainsFunc(e.Instance.With, func(id arm.ID) bool { return id.Key() == r.ID.Key() }) {
			return arm.Answer{}, arm.Errorf(http.StatusBadRequest, "NicInUse",
				"Network Interface %s is used by existing resource %s.", r.ID.Path, e.Instance.ID.Path)
		}
	}
	if !c.store.Delete(r.ID) {
		return arm.Answer{Status: http.StatusNoContent}, nil
	}
	return arm.Answer{}, nil
}
