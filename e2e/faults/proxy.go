package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy passes on requests to an API server.
type Proxy struct {
	url     *url.URL
	reverse *httputil.ReverseProxy
	server  *http.Server
	life    context.Context //nolint:containedctx // it is the proxy's, up to Close
	cancel  context.CancelFunc

	mu      sync.Mutex
	active  []*Active
	streams []*stream      // of open watches
	written map[string]int // how many writes of each kind there were
	closed  chan struct{}  // set while no request gets through but those for leases
}

// Interposer is what stands between a controller and the API server: a Proxy here, or a Remote one.
type Interposer interface {
	// Begin begins a fault. It returns what is wrong with a fault that can't be, and begins nothing then.
	Begin(ctx context.Context, f Fault, strike Strike) (*Active, error)
	// Writes returns how many writes of each kind there have been, by Request.Kind. Leases and Events don't count.
	Writes(ctx context.Context) (map[string]int, error)
}

// New returns a proxy as a handler of requests. It passes them on to the server of config, whose credentials it doesn't
// use. Close ends it.
func New(ctx context.Context, config *rest.Config) (*Proxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	transport, err := transportTo(config)
	if err != nil {
		return nil, fmt.Errorf("the way to the API server: %w", err)
	}
	p := &Proxy{written: map[string]int{}}
	p.life, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		Transport: transport, ModifyResponse: p.follow, ErrorLog: silent(),
		// As if the connection to the API server itself had broken.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return p, nil
}

// silent returns a log of nothing: clients see what goes wrong.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// Listen starts a proxy on a free loopback port. Its certificate is one that clients of the server of config trust for
// 127.0.0.1.
func Listen(ctx context.Context, config *rest.Config, certificate tls.Certificate) (*Proxy, error) {
	p, err := New(ctx, config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.url = &url.URL{Scheme: "https", Host: listener.Addr().String()}
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: silent(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // ends with Close
	return p, nil
}

// transportTo returns a transport that trusts what config trusts, and adds nothing to requests.
func transportTo(config *rest.Config) (http.RoundTripper, error) {
	trusted, err := rest.TLSConfigFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		TLSClientConfig: trusted, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 100,
	}, nil
}

// URL returns the address of a proxy that listens, such as https://127.0.0.1:40123.
func (p *Proxy) URL() string { return p.url.String() }

// Close ends the proxy, its connections and all faults.
func (p *Proxy) Close() error {
	p.cancel()
	p.mu.Lock()
	active := slices.Clone(p.active)
	p.mu.Unlock()
	for _, a := range active {
		a.End()
	}
	if p.server == nil {
		return nil
	}
	return p.server.Close()
}

// Begin begins a fault; see Interposer.
func (p *Proxy) Begin(_ context.Context, f Fault, strike Strike) (*Active, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	a := newActive(f, strike)
	a.end = func() { p.remove(a) }
	p.mu.Lock()
	p.active = append(p.active, a)
	open := slices.Clone(p.streams)
	p.mu.Unlock()
	if f.kind == freeze || f.kind == loseLease || f.kind == holdEvents {
		timer := time.AfterFunc(f.after, a.End)
		context.AfterFunc(p.life, func() { timer.Stop() })
	}
	if f.kind == cutWatches || f.kind == expireWatches {
		for _, s := range open {
			if a.on.concerns(s.request) && a.due(nil) {
				a.hits(p.life, s.request)
				s.end(f.kind == expireWatches)
			}
		}
	}
	return a, nil
}

func (p *Proxy) remove(a *Active) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = slices.DeleteFunc(p.active, func(other *Active) bool { return other == a })
}

// ServeHTTP passes a request on, unless a fault strikes it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := requestOf(r)
	if !request.isOfLease() && !p.passGate(r.Context()) {
		panic(http.ErrAbortHandler)
	}
	if request.isWrite() && p.selectsByBody() {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		request.body, r.Body = string(body), io.NopCloser(bytes.NewReader(body))
	}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
	for _, a := range p.striking(request) {
		if answered := p.apply(a, request, w, r); answered {
			return
		}
	}
	p.reverse.ServeHTTP(w, r)
}

// selectsByBody reports whether a fault can't tell by a request's line whether the request is meant.
func (p *Proxy) selectsByBody() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.active, func(a *Active) bool { return a.on.field != "" })
}

// requestKey is the key of the Request in a request's context.
type requestKey struct{}

// Writes returns how many writes there have been; see Interposer.
func (p *Proxy) Writes(context.Context) (map[string]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.written), nil
}

// striking counts a request and returns the faults that strike it.
func (p *Proxy) striking(r Request) []*Active {
	p.mu.Lock()
	active := slices.Clone(p.active)
	if r.isWrite() {
		p.written[r.Kind()]++
	}
	p.mu.Unlock()
	return slices.DeleteFunc(active, func(a *Active) bool {
		return ofEvents[a.kind] || !a.on.matches(r) || !a.due(nil)
	})
}

// apply makes a fault take effect on a request, and reports whether that was the request's answer. It panics with
// http.ErrAbortHandler to break the connection.
func (p *Proxy) apply(a *Active, request Request, w http.ResponseWriter, r *http.Request) (answered bool) {
	switch a.kind {
	case crashBefore, crashAfter:
		open := p.closeGate()
		defer open()
		if a.kind == crashAfter {
			p.perform(r)
		}
		a.hits(p.life, request)
		panic(http.ErrAbortHandler)
	case loseAnswer:
		p.perform(r)
		a.hits(p.life, request)
		panic(http.ErrAbortHandler)
	case refuse, loseLease:
		a.hits(p.life, request)
		answer(w, a.refusal)
		return true
	case freeze:
		a.hits(p.life, request)
		select {
		case <-r.Context().Done():
		case <-a.over:
		}
		panic(http.ErrAbortHandler)
	case delay:
		a.hits(p.life, request)
		a.wait(r.Context())
	case delayAnswer:
		p.reverse.ServeHTTP(lateAnswer{w, func() {
			a.hits(p.life, request)
			a.wait(r.Context())
		}}, r)
		return true
	}
	return false
}

// wait waits as long as a fault delays, or until it is over. It panics with http.ErrAbortHandler if ctx ends.
func (a *Active) wait(ctx context.Context) {
	timer := time.NewTimer(a.after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.over:
	case <-ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

// perform sends a request and drops the answer. The request is done even if its sender is gone.
func (p *Proxy) perform(r *http.Request) {
	defer func() {
		if r := recover(); r != nil && r != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			panic(r)
		}
	}()
	p.reverse.ServeHTTP(dropped{}, r.WithContext(context.WithoutCancel(r.Context())))
}

// closeGate lets no event and no request through until open is called, but for requests for leases: a controller that
// is to be killed must not end itself before, and the clock may jump meanwhile.
func (p *Proxy) closeGate() (open func()) {
	gate := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = gate
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed == gate {
			p.closed = nil
		}
		close(gate)
	}
}

// passGate waits until the gate is open. It reports whether it is; otherwise ctx has ended.
func (p *Proxy) passGate(ctx context.Context) bool {
	for {
		p.mu.Lock()
		gate := p.closed
		p.mu.Unlock()
		if gate == nil {
			return ctx.Err() == nil
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return false
		}
	}
}
