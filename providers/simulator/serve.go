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

// Serve answers requests at an address until ctx ends. It requires no credentials, so the
// address must be loopback or the pod's own.
func Serve(ctx context.Context, address string, handler http.Handler) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q is not host:port: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() &&
		(ip == nil || host != os.Getenv(addressVariable)) {
		return fmt.Errorf("address %q: only loopback and the pod's own address ($%s) are allowed, "+
			"because the simulator asks for no credentials", address, addressVariable)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	slog.Info("listening", "address", listener.Addr().String())
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
