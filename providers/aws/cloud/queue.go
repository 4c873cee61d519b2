package cloud

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Message is a message in the queue.
type Message struct {
	ID, Receipt string
	Body        string // JSON
	Sent        time.Time
	Receives    int // how often it was received

	hidden time.Time // until then, nobody receives it
}

// queue is a standard queue: a received message comes again unless it is deleted in time.
type queue struct {
	mu       sync.Mutex
	messages []*Message
	changed  chan struct{} // closed and replaced when a message arrives
	count    int
}

// put appends a message and returns its ID.
func (q *queue) put(body string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count++
	id := "message-" + strconv.Itoa(q.count)
	q.messages = append(q.messages, &Message{ID: id, Body: body, Sent: time.Now()})
	close(q.changed)
	q.changed = make(chan struct{})
	return id
}

// take returns up to most messages and hides them for the time of visibility. changed closes
// when a message arrives. next is when the first hidden message becomes visible again.
func (q *queue) take(most int, visibility time.Duration) (taken []Message, changed <-chan struct{}, next time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.messages {
		switch {
		case time.Now().Before(m.hidden):
			if next.IsZero() || m.hidden.Before(next) {
				next = m.hidden
			}
		case len(taken) < most:
			m.Receives++
			m.Receipt = m.ID + "/" + strconv.Itoa(m.Receives)
			m.hidden = time.Now().Add(visibility)
			taken = append(taken, *m)
		}
	}
	return taken, q.changed, next
}

// Receive returns up to most messages and hides them for the time of visibility. If there are
// none, it waits for the first, up to the time of wait.
func (c *Cloud) Receive(ctx context.Context, most int, visibility, wait time.Duration) []Message {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		taken, changed, next := c.queue.take(most, visibility)
		if len(taken) > 0 {
			return taken
		}
		var visible <-chan time.Time
		if !next.IsZero() {
			visible = time.After(time.Until(next))
		}
		select {
		case <-changed:
		case <-visible:
		case <-ctx.Done():
			return nil
		}
	}
}

// Delete removes the message that was received with a receipt. An outdated receipt removes
// nothing and is no error, as in SQS.
func (c *Cloud) Delete(receipt string) {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.messages = slices.DeleteFunc(c.queue.messages, func(m *Message) bool {
		return m.Receipt == receipt && receipt != ""
	})
}

// Send puts a message into the queue and returns its ID.
func (c *Cloud) Send(body string) string { return c.queue.put(body) }

// publish puts an EC2 event about an instance into the queue, as a rule of EventBridge does.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instance-state-changes.html.
func (c *Cloud) publish(what string, i *Instance, detail map[string]any) {
	c.send("aws.ec2", what, []string{"arn:aws:ec2:" + c.settings.Region + ":" + c.settings.Account + ":instance/" +
		i.ID}, detail)
}

func (c *Cloud) send(source, what string, resources []string, detail map[string]any) {
	body, err := json.Marshal(map[string]any{
		"version": "0", "id": c.newID("event"), "source": source, "detail-type": what, "account": c.settings.Account,
		"time": now().Format(time.RFC3339), "region": c.settings.Region, "resources": resources, "detail": detail,
	})
	if err == nil { // always: strings and numbers only
		c.queue.put(string(body))
	}
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
	c.publish("EC2 Spot Instance Interruption Warning", i,
		map[string]any{"instance-id": i.ID, "instance-action": "terminate"})
	time.AfterFunc(warning, func() { c.fleet.Terminate(i.ID) }) // it may have ended already
	return nil
}

// Rebalance announces an increased risk that an instance is interrupted.
func (c *Cloud) Rebalance(id string) error {
	i, err := c.fleet.Find(id)
	if err == nil {
		c.publish("EC2 Instance Rebalance Recommendation", i, map[string]any{"instance-id": i.ID})
	}
	return err
}

// notice is the time from the announcement of an instance's retirement to the retirement.
const notice = 14 * 24 * time.Hour

// Maintain schedules an instance's retirement and publishes AWS Health's event about it.
func (c *Cloud) Maintain(id string) error {
	i, err := c.fleet.Find(id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i.Scheduled = append(i.Scheduled, Maintenance{
		Code: "instance-retirement", Description: "The instance is running on degraded hardware",
		NotBefore: now().Add(notice),
	})
	c.send("aws.health", "AWS Health Event", []string{i.ID}, map[string]any{
		"service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "eventTypeCategory": "scheduledChange",
		"affectedEntities": []map[string]any{{"entityValue": i.ID}},
	})
	return nil
}
