package local

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

func TestPortsOfTwoRunsDiffer(t *testing.T) {
	g := NewWithT(t)
	cache := t.TempDir()
	mine, theirs := newPorts(cache), newPorts(cache)
	seen := map[int]bool{}
	for range 200 {
		for _, p := range []*ports{mine, theirs} {
			port, err := p.take()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(port).To(And(BeNumerically(">=", firstPort), BeNumerically("<=", lastPort)))
			g.Expect(seen).NotTo(HaveKey(port))
			seen[port] = true
		}
	}
	mine.release()
	theirs.release()
}

func TestAPortThatSomebodyHasIsNotTaken(t *testing.T) {
	for name, host := range map[string]string{"loopback": "127.0.0.1", "all interfaces": ""} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			// Find three free ports in a row: one gets a listener, one a lock.
			p := newPorts(t.TempDir())
			for p.first = firstPort; !isFree(p.first) || !isFree(p.first+1) || !isFree(p.first+2); p.first += 3 {
			}
			p.last = p.first + 2
			l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p.first)))
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = l.Close() }()
			lock, err := filelock.Try(filepath.Join(p.dir, strconv.Itoa(p.first+1)))
			g.Expect(err).NotTo(HaveOccurred())
			defer lock.Release()

			g.Expect(p.take()).To(Equal(p.first + 2))
			_, err = p.take()
			g.Expect(err).To(MatchError(ContainSubstring("all of %d to %d are in use", p.first, p.last)))
			p.release()
			g.Expect(p.take()).To(Equal(p.first + 2))
			p.release()
		})
	}
}

func TestStartsAgainWhenAPortWasTaken(t *testing.T) {
	stolen := fmt.Errorf("start cluster one: %w", &startFailure{component: etcd, port: 20001})
	broken := &startFailure{component: etcd, lines: "it rained"}
	for name, test := range map[string]struct {
		results []error
		want    error
		starts  int
	}{
		"at once":         {[]error{nil}, nil, 1},
		"with others":     {[]error{stolen, stolen, nil}, nil, 3},
		"not for ever":    {[]error{stolen, stolen, stolen, nil}, stolen, 3},
		"another failure": {[]error{broken, nil}, broken, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			starts := 0
			_, err := retryWithOtherPorts(t.Context(), func(string) {}, func() (*local, error) {
				starts++
				return nil, test.results[starts-1]
			})
			g.Expect(starts).To(Equal(test.starts))
			if test.want == nil {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(BeIdenticalTo(test.want))
			}
		})
	}
}
