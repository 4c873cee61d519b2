package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"
)

// addressVariable is the environment variable with the address of the simulator's pod, if any.
const addressVariable = "POD_IP"

// Serve answers requests at an address until ctx ends: without TLS, and with TLS if $PLUMBLINE_CA names a folder with
// ca.crt and ca.key. The certificates are for the name or the address that the client connects to, and valid as long
// as the CA's. Serve is an HTTP proxy too: it answers CONNECT by serving that connection itself, and Host says which
// host was meant. It requires no credentials, so the address must be loopback or the pod's own.
func Serve(ctx context.Context, address string, handler http.Handler) error {
	if err := checkAddress(address); err != nil {
		return err
	}
	authority, err := readAuthority(os.Getenv(authorityVariable))
	if err != nil {
		return err
	}
	inner, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	slog.Info("listening", "address", inner.Addr().String(), "tls", authority != nil)
	l := listen(inner, authority)
	server := &http.Server{
		Handler: proxy(l, handler), ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// checkAddress checks that an address is host:port and that only this machine or pod has it.
func checkAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q is not host:port: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() &&
		(ip == nil || host != os.Getenv(addressVariable)) {
		return fmt.Errorf("address %q: only loopback and the pod's own address ($%s) are allowed, "+
			"because the simulator asks for no credentials", address, addressVariable)
	}
	return nil
}

// proxy serves requests, and CONNECT by handing its connection to the listener.
func proxy(l *listener, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			handler.ServeHTTP(w, r)
			return
		}
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			http.Error(w, "CONNECT needs host:port: "+err.Error(), http.StatusBadRequest)
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, "CONNECT needs HTTP/1.1: "+err.Error(), http.StatusBadRequest)
			return
		}
		if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
			_ = conn.Close()
			return
		}
		go l.admit(&peeked{conn, buffered.Reader}, host)
	})
}
