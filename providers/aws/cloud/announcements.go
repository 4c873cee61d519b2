package cloud

import (
	"encoding/json"
	"fmt"
	"time"
)

// stateChange is the type of the events about an instance's state.
const stateChange = "EC2 Instance State-change Notification"

// ec2Event returns an EC2 event about an instance, as a rule of EventBridge puts it into the queue.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instance-state-changes.html.
func (c *Cloud) ec2Event(what, id string, detail map[string]any) string {
	detail["instance-id"] = id
	return c.event("aws.ec2", what, "arn:aws:ec2:"+c.settings.Region+":"+c.settings.Account+":instance/"+id, detail)
}

func (c *Cloud) event(source, what, resource string, detail map[string]any) string {
	body, _ := json.Marshal(map[string]any{ // strings only: there is no error
		"version": "0", "id": c.newID("event"), "source": source, "detail-type": what, "account": c.settings.Account,
		"time": now().Format(time.RFC3339), "region": c.settings.Region, "resources": []string{resource}, "detail": detail,
	})
	return string(body)
}

func (c *Cloud) interruption(id string) string {
	return c.ec2Event("EC2 Spot Instance Interruption Warning", id, map[string]any{"instance-action": "terminate"})
}

func (c *Cloud) rebalance(id string) string {
	return c.ec2Event("EC2 Instance Rebalance Recommendation", id, map[string]any{})
}

func (c *Cloud) maintenance(id string) string {
	return c.event("aws.health", "AWS Health Event", id, map[string]any{
		"service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "eventTypeCategory": "scheduledChange",
		"affectedEntities": []map[string]any{{"entityValue": id}},
	})
}

func (c *Cloud) state(id, state string) string {
	return c.ec2Event(stateChange, id, map[string]any{"state": state})
}

// warning is the time from a spot instance's interruption warning to its end.
const warning = 2 * time.Minute

// Interrupt announces the end of a spot instance and ends it two minutes later.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html.
func (c *Cloud) Interrupt(id string) error {
	i, err := c.fleet.Find(id)
	if err != nil {
		return err
	}
	if i.Capacity != Spot {
		return refuse("IncorrectInstanceState", "%s is not a spot instance", i.ID)
	}
	c.queue.put(c.interruption(i.ID))
	c.endSoon(i)
	return nil
}

// endSoon ends an instance whose end is announced. It may have ended before.
func (c *Cloud) endSoon(i *Instance) { time.AfterFunc(warning, func() { c.fleet.Terminate(i.ID) }) }

// Rebalance announces an increased risk that an instance is interrupted.
func (c *Cloud) Rebalance(id string) error {
	i, err := c.fleet.Find(id)
	if err == nil {
		c.queue.put(c.rebalance(i.ID))
	}
	return err
}

// Maintain schedules an instance's retirement and publishes AWS Health's event about it.
func (c *Cloud) Maintain(id string) error {
	i, err := c.fleet.Find(id)
	if err != nil {
		return err
	}
	c.retire(i)
	c.queue.put(c.maintenance(i.ID))
	return nil
}

// notice is the time from the announcement of an instance's retirement to the retirement.
const notice = 14 * 24 * time.Hour

func (c *Cloud) retire(i *Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i.Scheduled = append(i.Scheduled, Maintenance{
		Code: "instance-retirement", Description: "The instance is running on degraded hardware",
		NotBefore: now().Add(notice),
	})
}

// Announced tells which instances AnnounceMany has named, by their provider IDs: those that end, and those that stay.
type Announced struct {
	Ending  []string `json:"ending"`
	Staying []string `json:"staying"`
}

// AnnounceMany puts as many messages into the queue at once as an account's clusters get over time. One is about each
// instance: in turn that it is interrupted, that this is likely, that it is retired and that it runs. Among them are
// messages about instances of other clusters, in equal parts of these kinds and that an instance was terminated.
func (c *Cloud) AnnounceMany(count int) (Announced, error) {
	all := Announced{Ending: []string{}, Staying: []string{}}
	living := c.fleet.Living()
	if count < max(1, len(living)) {
		return all, fmt.Errorf("there can't be %d messages: each of %d instances is in one, and there must be one at least",
			count, len(living))
	}
	var bodies []string
	for n := range count {
		k := n * len(living) / count
		if (n+1)*len(living)/count == k {
			bodies = append(bodies, c.elsewhere(n))
			continue
		}
		i := living[k].Instance // each comes once, and they are spread evenly
		body, ends := c.announcement(k, i)
		bodies = append(bodies, body)
		if ends {
			all.Ending = append(all.Ending, i.ProviderID())
		} else {
			all.Staying = append(all.Staying, i.ProviderID())
		}
	}
	c.queue.putAll(bodies)
	return all, nil
}

// announcement returns the message about the k-th instance, and whether the instance ends.
func (c *Cloud) announcement(k int, i *Instance) (body string, ends bool) {
	switch {
	case k%4 == 0 && i.Capacity == Spot:
		c.endSoon(i)
		return c.interruption(i.ID), true
	case k%2 == 0:
		c.retire(i)
		return c.maintenance(i.ID), true
	case k%4 == 1:
		return c.rebalance(i.ID), false
	default:
		return c.state(i.ID, "running"), false
	}
}

// elsewhere returns the n-th message about an instance of another cluster.
func (c *Cloud) elsewhere(n int) string {
	id := c.newID("i")
	switch n % 5 {
	case 0:
		return c.interruption(id)
	case 1:
		return c.rebalance(id)
	case 2:
		return c.maintenance(id)
	case 3:
		return c.state(id, "terminated")
	default:
		return c.state(id, "running") // to which Karpenter pays no attention
	}
}

// Announcements is how far the messages of AnnounceMany are handled.
type Announcements struct {
	Left    int     `json:"left"`    // how many have not been deleted
	Seconds float64 `json:"seconds"` // until none was left, or until now
	Calls   int     `json:"calls"`   // to receive and to delete messages, meanwhile
	Waiting int     `json:"waiting"` // all messages in the queue
	Again   int     `json:"again"`   // how often any message was received or deleted that already had been
}

// Announcements returns how far the messages of the last AnnounceMany are handled.
func (c *Cloud) Announcements() Announcements {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	a := Announcements{Waiting: len(q.messages), Again: q.again}
	if b := q.last; b != nil {
		a.Left, a.Calls, a.Seconds = b.left, b.calls, b.took.Seconds()
		if b.left > 0 {
			a.Seconds = time.Since(b.began).Seconds()
		}
	}
	return a
}
