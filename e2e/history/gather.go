package history

import (
	"bufio"
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

// Being woken for each event costs several times what recording it does. So
// when a watch is busy, events gather in its connection up to the next tick of
// the clock, at which all busy watches are read; as long as it isn't, each event
// is read at once. Busy is a watch that has been read more often than once per
// tick, but for a burst.
const (
	gatherTick  = 20 * time.Millisecond
	gatherBurst = 20 // reads
	// gatherAtMost is the size of a read, in bytes. After a full one the next
	// doesn't wait: what comes faster than it is read would otherwise pile up.
	gatherAtMost = 128 << 10
)

// gathering makes connections of this configuration gather.
func gathering(cfg *rest.Config) {
	dial := cfg.Dial
	if dial == nil {
		// What client-go dials with (transport/cache.go).
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &gatherer{Conn: c, in: bufio.NewReaderSize(c, gatherAtMost)}, nil
	}
}

// gatherer is a connection that is read seldom and in large pieces. One goroutine
// reads it, as in net/http.
type gatherer struct {
	net.Conn
	in     *bufio.Reader
	tick   time.Time // of the last read
	credit int       // reads that need not wait
	full   bool      // the last read filled the buffer
}

func (g *gatherer) Read(b []byte) (int, error) {
	if g.in.Buffered() > 0 {
		return g.in.Read(b)
	}
	if !g.full {
		g.wait(time.Now())
	}
	// Peek fills the buffer by a single read of the connection.
	if _, err := g.in.Peek(1); err != nil {
		return 0, err
	}
	g.full = g.in.Buffered() == gatherAtMost
	return g.in.Read(b)
}

// wait spends one credit, and waits for the next tick if there is none. Each
// tick gives one.
func (g *gatherer) wait(now time.Time) {
	tick := now.Truncate(gatherTick)
	g.credit = min(g.credit+int(tick.Sub(g.tick)/gatherTick), gatherBurst) - 1
	if g.credit < 0 {
		tick = tick.Add(gatherTick)
		<-time.After(tick.Sub(now))
		g.credit = 0
	}
	g.tick = tick
}
