package history

import (
	"bufio"
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

// A wake-up for each event costs several times its recording. So on a busy watch events gather
// in the connection until the next tick of the clock, when all busy watches are read. On other
// watches each event is read at once.
const (
	gatherTick = 25 * time.Millisecond
	// busyAbove is in bytes per second over busyWindow: about 200 events per second.
	busyAbove  = 512 << 10
	busyWindow = 250 * time.Millisecond
	// gatherAtMost is the size of a read, in bytes. After a full read the next one doesn't
	// wait, so that data can't pile up.
	gatherAtMost = 128 << 10
)

func gathering(cfg *rest.Config) {
	dial := cfg.Dial
	if dial == nil {
		// client-go's dialer (transport/cache.go).
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

// gatherer is a connection that is read in large pieces while it is busy. One goroutine reads
// it, as in net/http.
type gatherer struct {
	net.Conn
	in    *bufio.Reader
	since time.Time // start of the window
	bytes int       // read in the window
	busy  bool      // in the previous window
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
	// Peek fills the buffer with one read of the connection.
	if _, err := g.in.Peek(1); err != nil {
		return 0, err
	}
	g.bytes += g.in.Buffered()
	g.full = g.in.Buffered() == gatherAtMost
	return g.in.Read(b)
}
