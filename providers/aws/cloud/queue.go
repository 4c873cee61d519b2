package cloud

import (
	"context"
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
	batch  *batch    // nil: it came alone
}

// batch measures messages that came at once.
type batch struct {
	began time.Time
	left  int           // how many have not been deleted
	took  time.Duration // until none was left
	calls int           // to receive and to delete messages, until none was left
}

// queue is a standard queue: a received message comes again unless it is deleted in time.
type queue struct {
	mu       sync.Mutex
	messages []*Message
	changed  chan struct{} // closed and replaced when a message arrives
	count    int
	last     *batch // of putAll; nil: none
	again    int    // how often a message was received or deleted that already had been
}

// put appends a message and returns its ID.
func (q *queue) put(body string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.append(nil, body)
}

// putAll appends messages of which none is received before all are there.
func (q *queue) putAll(bodies []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last = &batch{began: time.Now(), left: len(bodies)}
	for _, body := range bodies {
		q.append(q.last, body)
	}
}

func (q *queue) append(b *batch, body string) string {
	q.count++
	id := "message-" + strconv.Itoa(q.count)
	q.messages = append(q.messages, &Message{ID: id, Body: body, Sent: time.Now(), batch: b})
	close(q.changed)
	q.changed = make(chan struct{})
	return id
}

// called counts a call that receives or deletes messages.
func (q *queue) called() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last != nil && q.last.left > 0 {
		q.last.calls++
	}
}

// take returns up to most messages and hides them for the time of visibility. changed closes
// when a message arrives. next is when the first hidden message becomes visible again, if none is taken.
func (q *queue) take(most int, visibility time.Duration) (taken []Message, changed <-chan struct{}, next time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.messages {
		if len(taken) == most { // of thousands, the others need not be looked at
			break
		}
		if time.Now().Before(m.hidden) {
			if next.IsZero() || m.hidden.Before(next) {
				next = m.hidden
			}
			continue
		}
		if m.Receives++; m.Receives > 1 {
			q.again++
		}
		m.Receipt = m.ID + "/" + strconv.Itoa(m.Receives)
		m.hidden = time.Now().Add(visibility)
		taken = append(taken, *m)
	}
	return taken, q.changed, next
}

// Receive returns up to most messages and hides them for the time of visibility. If there are
// none, it waits for the first, up to the time of wait.
func (c *Cloud) Receive(ctx context.Context, most int, visibility, wait time.Duration) []Message {
	c.queue.called()
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
	c.queue.called()
	c.queue.remove(receipt)
}

func (q *queue) remove(receipt string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.messages, func(m *Message) bool { return m.Receipt == receipt && receipt != "" })
	if at < 0 {
		q.again++
		return
	}
	if b := q.messages[at].batch; b != nil {
		b.left--
		b.took = time.Since(b.began)
	}
	q.messages = slices.Delete(q.messages, at, at+1)
}

// Send puts a message into the queue and returns its ID.
func (c *Cloud) Send(body string) string { return c.queue.put(body) }
