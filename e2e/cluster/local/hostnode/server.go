package hostnode

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"k8s.io/client-go/util/cert"
)

// server is the part of a kubelet's API that kubectl logs needs.
type server struct {
	http     *http.Server
	listener net.Listener
}

// serveLogs listens on a free loopback port. Its certificate is self-signed, because the API
// server does not verify it by default. clientCA, if set, must have signed the clients'
// certificates.
func serveLogs(n *Node, clientCA []byte) (*server, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(Name, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return nil, fmt.Errorf("serving logs: certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("serving logs: certificate: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if len(clientCA) > 0 {
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(clientCA) {
			return nil, errors.New("serving logs: Options.KubeletCA holds no certificate in PEM")
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("serving logs: %w", err)
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.containerLog)
	s := &server{listener: listener, http: &http.Server{
		Handler: routes, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:    log.New(io.Discard, "", 0), // only aborted connections, which nobody reads
		BaseContext: func(net.Listener) context.Context { return n.ctx },
	}}
	n.work.Go(func() { _ = s.http.Serve(tls.NewListener(listener, config)) }) // ends with close
	context.AfterFunc(n.ctx, func() { _ = s.http.Close() })
	return s, nil
}

func (s *server) port() int32 {
	address, ok := s.listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return int32(address.Port)
}

// containerLog answers as the kubelet's endpoint does. It knows follow, tailLines and
// limitBytes. It ignores previous, because the log includes earlier runs.
func (n *Node) containerLog(w http.ResponseWriter, r *http.Request) {
	c := n.findContainer(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	if c == nil {
		http.Error(w, fmt.Sprintf("container %q of pod %q is not on node %s", r.PathValue("container"), r.PathValue("pod"),
			Name), http.StatusNotFound)
		return
	}
	f, err := os.Open(c.logFile)
	if errors.Is(err, os.ErrNotExist) {
		http.Error(w, fmt.Sprintf("container %q has not run yet", c.spec.Name), http.StatusBadRequest)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = f.Close() }()
	query := r.URL.Query()
	if lines, err := strconv.Atoi(query.Get("tailLines")); err == nil && lines >= 0 {
		if err := seekLast(f, lines); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	var text io.Reader = f
	if limit, err := strconv.ParseInt(query.Get("limitBytes"), 10, 64); err == nil {
		text = io.LimitReader(f, limit)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, err := io.Copy(w, text); err != nil || query.Get("follow") != "true" {
		return
	}
	c.followLog(r.Context(), w, text)
}

// followLog writes additions to the log until the reader stops or the container ends for good.
func (c *container) followLog(ctx context.Context, w http.ResponseWriter, text io.Reader) {
	flush := http.NewResponseController(w)
	for ctx.Err() == nil {
		ended := c.pod.ctx.Err() != nil || c.status().State.Terminated != nil &&
			!c.shouldRestart(int(c.status().State.Terminated.ExitCode))
		if _, err := io.Copy(w, text); err != nil {
			return
		}
		if err := flush.Flush(); err != nil || ended {
			return
		}
		sleep(ctx, 100*time.Millisecond, nil) // poll: nothing reports that a file grows
	}
}

// seekLast moves to the beginning of the last lines of a file.
func seekLast(f *os.File, lines int) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || lines == 0 {
		return err
	}
	const block = 64 << 10
	for size := int64(block); ; size *= 4 {
		from := max(0, end-size)
		data := make([]byte, end-from)
		if _, err := f.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		trimmed := data
		if len(trimmed) > 0 && trimmed[len(trimmed)-1] == '\n' {
			trimmed = trimmed[:len(trimmed)-1]
		}
		start := startOfLast(trimmed, lines)
		if start > 0 || from == 0 {
			_, err := f.Seek(from+int64(start), io.SeekStart)
			return err
		}
	}
}

func (n *Node) findContainer(namespace, pod, name string) *container {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if latest := p.object(); latest.Namespace != namespace || latest.Name != pod {
			continue
		}
		for _, c := range p.containers() {
			if c.spec.Name == name {
				return c
			}
		}
	}
	return nil
}

// close ends the server and its connections.
func (s *server) close() error {
	if err := s.http.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
