package simulator

import (
	"bufio"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"path/filepath"
	"sync"
	"time"
)

// authorityVariable is the environment variable with the folder of the run's CA, if any.
const authorityVariable = "PLUMBLINE_CA"

// authority issues certificates of the run's CA.
type authority struct {
	ca  tls.Certificate
	key *ecdsa.PrivateKey // of all certificates that it issues

	mu     sync.Mutex
	issued map[string]*tls.Certificate // by host
}

// readAuthority reads a CA from ca.crt and ca.key in a folder. Without a folder it returns nil.
func readAuthority(folder string) (*authority, error) {
	if folder == "" {
		return nil, nil //nolint:nilnil // there is no CA
	}
	ca, err := tls.LoadX509KeyPair(filepath.Join(folder, "ca.crt"), filepath.Join(folder, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("reading ca.crt and ca.key in $%s: %w", authorityVariable, err)
	}
	if !ca.Leaf.IsCA {
		return nil, fmt.Errorf("%s/ca.crt ($%s) is not a CA: it must have CA:TRUE", folder, authorityVariable)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &authority{ca: ca, key: key, issued: map[string]*tls.Certificate{}}, err
}

// certificate returns a certificate for a host, which is a name or an address.
func (a *authority) certificate(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.issued[host]; c != nil {
		return c, nil
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.issued)) + 2), Subject: pkix.Name{CommonName: "plumbline simulator"},
		NotBefore: a.ca.Leaf.NotBefore, NotAfter: a.ca.Leaf.NotAfter, // clusters' clocks move
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.ca.Leaf, a.key.Public(), a.ca.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("issuing a certificate for %s: %w", host, err)
	}
	a.issued[host] = &tls.Certificate{Certificate: [][]byte{raw, a.ca.Certificate[0]}, PrivateKey: a.key}
	return a.issued[host], nil
}

// listener accepts connections with TLS and without.
type listener struct {
	net.Listener
	authority *authority // nil: no TLS
	ready     chan net.Conn
	closed    chan struct{}
	close     func() error
}

// listen returns a listener that tells TLS from plain HTTP by a connection's first byte.
func listen(inner net.Listener, a *authority) *listener {
	l := &listener{Listener: inner, authority: a, ready: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error { close(l.closed); return inner.Close() })
	go func() {
		for {
			c, err := inner.Accept()
			if err != nil {
				_ = l.close()
				return
			}
			go l.admit(&peeked{c, bufio.NewReader(c)}, "")
		}
	}()
	return l
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends listening.
func (l *listener) Close() error { return l.close() }

// handshake is the first byte of a TLS connection.
const handshake = 0x16

// patience is how long a client may take for its first byte.
const patience = time.Minute

// admit passes a connection on when its first byte has come. host is what the client connects to, if that is known.
func (l *listener) admit(p *peeked, host string) {
	_ = p.SetReadDeadline(time.Now().Add(patience)) // without one, the read below takes longer
	first, err := p.reader.Peek(1)
	_ = p.SetReadDeadline(time.Time{})
	var c net.Conn = p
	switch {
	case err != nil:
		_ = p.Close()
		return
	case first[0] == handshake && l.authority == nil:
		slog.Warn("a client speaks TLS, but the simulator has no CA: the adapter needs simulator: {tls: true}")
		_ = p.Close()
		return
	case first[0] == handshake:
		c = tls.Server(p, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
				local, _, _ := net.SplitHostPort(p.LocalAddr().String()) // empty is refused by clients
				return l.authority.certificate(cmp.Or(h.ServerName, host, local))
			},
		})
	}
	select {
	case l.ready <- c:
	case <-l.closed:
		_ = c.Close()
	}
}

// peeked is a connection whose first byte was looked at.
type peeked struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads from the connection.
func (p *peeked) Read(b []byte) (int, error) { return p.reader.Read(b) }
