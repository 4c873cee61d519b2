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
// the clock, at which all busy watches are read. As long as it isn't, each event
// is read at once.
const (
	gatherTick = 25 * time.Millisecond
	// busyAbove is the rate in bytes per second, measured over busyWindow, above
	// which a watch is busy: some 200 events per second.
	busyAbove  = 512 << 10
	busyWindow = 250 * time.Millisecond
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

// gatherer is a connection that is read seldom and in large pieces while it is
// busy. One goroutine reads it, as in net/http.
type gatherer struct {
	net.Conn
	in    *bufio.Reader
	since time.Time // beginning of the window
	bytes int       // read in the window
	busy  bool      // judging by the window before
	full  bool      // the last read filled the buffer
}

func (g *gatherer) Read(b []byte) (int, error) {
	if g.in.Buffered() > 0 {
		return g.in.Read(b)
	}
	now := time.Now()
	if elapsed := now.Sub(g.since); elapsed > busyWindow {
		g.busy = float64(g.bytes)/elapsed.Seconds() > busyAbove
		g.since, g.bytes = now, 0
	}
	if g.busy && !g.full {
		<-time.After(now.Truncate(gatherTick).Add(gatherTick).Sub(now))
	}
	// Peek fills the buffer by a single read of the connection.
	if _, err := g.in.Peek(1); err != nil {
		return 0, err
	}
	g.bytes += g.in.Buffered()
	g.full = g.in.Buffered() == gatherAtMost
	return g.in.Read(b)
}
