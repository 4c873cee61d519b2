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

// The range of ports is above those of common services. It is below the ports for outgoing
// connections (Linux: 32768, macOS: 49152) and Kubernetes' node ports (30000).
const (
	firstPort = 20000
	lastPort  = 29999
)

// ports is a source of free ports of this machine. No process listens on them, and no other
// run has reserved them.
type ports struct {
	dir         string // of the lock files, shared by all runs
	first, last int

	mu   sync.Mutex
	held []*filelock.Lock
}

func newPorts(cache string) *ports {
	return &ports{dir: filepath.Join(cache, "ports"), first: firstPort, last: lastPort}
}

// take returns a free port and reserves it until release.
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

// isFree reports whether a process could listen on the port, on loopback and on all
// interfaces. It tries both: the system decides which attempt notices a listener on the other.
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
