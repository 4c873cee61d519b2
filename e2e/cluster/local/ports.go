package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

// Ports are taken from this range: above what services like to have, below
// what Linux (32768) and macOS (49152) give to outgoing connections, and below
// Kubernetes' node ports (30000).
const (
	firstPort = 20000
	lastPort  = 29999
)

// ports hands out ports of this machine that nobody else has: no process that
// listens, and no other run, which may not have come to listen yet.
type ports struct {
	dir         string // of the lock files, shared by all runs
	first, last int

	mu   sync.Mutex
	held []*filelock.Lock
}

func newPorts(cache string) *ports {
	return &ports{dir: filepath.Join(cache, "ports"), first: firstPort, last: lastPort}
}

// take returns a free port, which stays taken until release.
func (p *ports) take() (int, error) {
	n := p.last - p.first + 1
	for i, start := 0, rand.IntN(n); i < n; i++ { //nolint:gosec // it only has to differ between runs
		port := p.first + (start+i)%n
		lock, err := filelock.Try(filepath.Join(p.dir, strconv.Itoa(port)))
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("take a port: %w", err)
		}
		if !isFree(port) {
			lock.Release()
			continue
		}
		p.mu.Lock()
		p.held = append(p.held, lock)
		p.mu.Unlock()
		return port, nil
	}
	return 0, fmt.Errorf("take a port: all of %d to %d are in use", p.first, p.last)
}

// release gives all ports back.
func (p *ports) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.held {
		l.Release()
	}
	p.held = nil
}

// isFree tells whether a process could listen on the port, on the loopback interface
// and on all interfaces. Which of the two attempts notices a listener on the other
// depends on the system. Nothing is accepted.
func isFree(port int) bool {
	for _, host := range []string{"127.0.0.1", ""} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
