package wire

import (
	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

type describeInstancesRequest struct {
	paging
	Filter     []filter
	InstanceID []string `query:"InstanceId"`
}

type describeInstancesAnswer struct {
	Reservations []reservation `xml:"reservationSet>item"`
	NextToken    string        `xml:"nextToken,omitempty"`
}

type reservation struct {
	ID        string     `xml:"reservationId"`
	Owner     string     `xml:"ownerId"`
	Instances []instance `xml:"instancesSet>item"`
}

type instance struct {
	ID          string  `xml:"instanceId"`
	ImageID     string  `xml:"imageId"`
	State       state   `xml:"instanceState"`
	PrivateDNS  string  `xml:"privateDnsName"`
	Type        string  `xml:"instanceType"`
	Launched    string  `xml:"launchTime"`
	Zone        string  `xml:"placement>availabilityZone"`
	ZoneID      string  `xml:"placement>availabilityZoneId"`
	Tenancy     string  `xml:"placement>tenancy"`
	SubnetID    string  `xml:"subnetId"`
	VpcID       string  `xml:"vpcId"`
	PrivateIP   string  `xml:"privateIpAddress"`
	Groups      []group `xml:"groupSet>item"`
	Arch        string  `xml:"architecture"`
	SpotRequest string  `xml:"spotInstanceRequestId,omitempty"`
	Lifecycle   string  `xml:"instanceLifecycle,omitempty"`
	Tags        []tag   `xml:"tagSet>item"`
}

type state struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

type group struct {
	ID string `xml:"groupId"`
}

// stateCodes holds EC2's numbers of states.
var stateCodes = map[simulator.State]int{
	simulator.Pending: 0, simulator.Running: 16, simulator.ShuttingDown: 32, simulator.Terminated: 48,
}

func stateOf(s simulator.State) state { return state{stateCodes[s], string(s)} }

func describeInstances(c *cloud.Cloud, r describeInstancesRequest) (a describeInstancesAnswer, err error) {
	all, err := c.Instances(r.InstanceID, filters(r.Filter))
	a.Reservations, a.NextToken, err = describe(all, err, r.paging, 1000, func(s cloud.Seen) reservation {
		return reservation{ID: "r" + s.ID[1:], Owner: c.Account(), Instances: []instance{describeInstance(c, &s)}}
	})
	return a, err
}

func describeInstance(c *cloud.Cloud, s *cloud.Seen) instance {
	d := instance{
		ID: s.ID, ImageID: s.ImageID, State: stateOf(s.State), PrivateDNS: s.PrivateDNS(), Type: s.Type.Name,
		Launched: stamp(s.Launched),
		Zone:     s.Subnet.Zone.Name, ZoneID: s.Subnet.Zone.ID, Tenancy: "default", SubnetID: s.Subnet.ID, VpcID: c.VPC(),
		PrivateIP: s.IP,
		Arch:      s.Type.Arch, Tags: tagSet(s.Tags),
	}
	for _, id := range s.Groups {
		d.Groups = append(d.Groups, group{id})
	}
	if s.Capacity == cloud.Spot {
		d.SpotRequest, d.Lifecycle = "sir"+s.ID[1:], cloud.Spot
	}
	return d
}

type terminateInstancesRequest struct {
	InstanceID []string `query:"InstanceId"`
}

type terminateInstancesAnswer struct {
	Changes []stateChange `xml:"instancesSet>item"`
}

type stateChange struct {
	ID      string `xml:"instanceId"`
	Current state  `xml:"currentState"`
	Before  state  `xml:"previousState"`
}

func terminateInstances(c *cloud.Cloud, r terminateInstancesRequest) (a terminateInstancesAnswer, err error) {
	changes, err := c.Terminate(r.InstanceID...)
	for _, change := range changes {
		a.Changes = append(a.Changes, stateChange{change.ID, stateOf(change.After), stateOf(change.Before)})
	}
	return a, err
}

type describeInstanceStatusRequest struct {
	paging
	Filter              []filter
	InstanceID          []string `query:"InstanceId"`
	IncludeAllInstances bool
}

type describeInstanceStatusAnswer struct {
	Statuses  []instanceStatus `xml:"instanceStatusSet>item"`
	NextToken string           `xml:"nextToken,omitempty"`
}

type instanceStatus struct {
	ID     string  `xml:"instanceId"`
	Zone   string  `xml:"availabilityZone"`
	State  state   `xml:"instanceState"`
	Status string  `xml:"instanceStatus>status"`
	System string  `xml:"systemStatus>status"`
	Events []event `xml:"eventsSet>item"`
}

type event struct {
	Code        string `xml:"code"`
	Description string `xml:"description"`
	NotBefore   string `xml:"notBefore"`
}

func describeInstanceStatus(c *cloud.Cloud, r describeInstanceStatusRequest) (a describeInstanceStatusAnswer,
	err error,
) {
	all, err := c.Instances(r.InstanceID, filters(r.Filter))
	if err != nil {
		return a, err
	}
	var some []cloud.Seen
	for _, s := range all {
		if s.State == simulator.Running || r.IncludeAllInstances {
			some = append(some, s)
		}
	}
	a.Statuses, a.NextToken, err = describe(some, nil, r.paging, 1000, func(s cloud.Seen) instanceStatus {
		d := instanceStatus{ID: s.ID, Zone: s.Subnet.Zone.Name, State: stateOf(s.State), Status: "ok", System: "ok"}
		for _, m := range s.Scheduled {
			d.Events = append(d.Events, event{m.Code, m.Description, stamp(m.NotBefore)})
		}
		return d
	})
	return a, err
}
