package cloud

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Message is one that EventBridge put into the queue.
type Message struct {
	ID, Receipt string
	Body        string // JSON
	Sent        time.Time
	Receives    int // how often it was given out

	hidden time.Time // until then nobody else gets it
}

// queue is a standard queue: what isn't deleted in time after it was received comes again.
type queue struct {
	mu       sync.Mutex
	messages []*Message
	changed  chan struct{} // closed, and made anew, when a message arrives
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

// take gives out up to most messages and hides them for a while. It also tells what is closed
// when another arrives, and when the next hidden one can be seen again.
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

// Receive gives out up to most messages, which nobody else gets for the time of visibility. If
// there are none it waits for some, but no longer than wait.
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

// Delete removes the message that was received with that receipt. A receipt that is out of
// date is taken, as SQS does, and removes nothing.
func (c *Cloud) Delete(receipt string) {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.messages = slices.DeleteFunc(c.queue.messages, func(m *Message) bool { return m.Receipt == receipt && receipt != "" })
}

// Send puts a message into the queue and returns its ID.
func (c *Cloud) Send(body string) string { return c.queue.put(body) }

// tell puts an event about an instance into the queue, as a rule of EventBridge does.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instance-state-changes.html.
func (c *Cloud) tell(what string, i *Instance, detail map[string]any) {
	c.send("aws.ec2", what, []string{"arn:aws:ec2:" + c.settings.Region + ":" + c.settings.Account + ":instance/" + i.ID}, detail)
}

func (c *Cloud) send(source, what string, resources []string, detail map[string]any) {
	body, err := json.Marshal(map[string]any{
		"version": "0", "id": c.newID("event"), "source": source, "detail-type": what, "account": c.settings.Account,
		"time": now().Format(time.RFC3339), "region": c.settings.Region, "resources": resources, "detail": detail,
	})
	if err == nil { // strings and numbers only
		c.queue.put(string(body))
	}
}

// warning is how long before its end a spot instance is told of it.
const warning = 2 * time.Minute

// Interrupt announces the end of a spot instance, and ends it two minutes later.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html.
func (c *Cloud) Interrupt(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, err := c.instance(id)
	if err != nil {
		return err
	}
	if i.Capacity != Spot {
		return refuse("IncorrectInstanceState", "%s is not a spot instance", i.ID)
	}
	c.tell("EC2 Spot Instance Interruption Warning", i, map[string]any{"instance-id": i.ID, "instance-action": "terminate"})
	time.AfterFunc(warning, func() { _, _ = c.Terminate(i.ID) }) // it may have ended before
	return nil
}

// Rebalance says that a spot instance is likelier than others to be interrupted.
func (c *Cloud) Rebalance(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, err := c.instance(id)
	if err == nil {
		c.tell("EC2 Instance Rebalance Recommendation", i, map[string]any{"instance-id": i.ID})
	}
	return err
}

// notice is how long before EC2 retires an instance it says so.
const notice = 14 * 24 * time.Hour

// Maintain schedules the retirement of an instance, and tells of it as AWS Health does.
func (c *Cloud) Maintain(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, err := c.instance(id)
	if err != nil {
		return err
	}
	i.Scheduled = append(i.Scheduled, Maintenance{
		Code: "instance-retirement", Description: "The instance is running on degraded hardware", NotBefore: now().Add(notice),
	})
	c.send("aws.health", "AWS Health Event", []string{i.ID}, map[string]any{
		"service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "eventTypeCategory": "scheduledChange",
		"affectedEntities": []map[string]any{{"entityValue": i.ID}},
	})
	return nil
}
