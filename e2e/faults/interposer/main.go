// Interposer runs the proxy of package faults in a pod, between a provider's controller and the API server.
//
//	interposer HOST:PORT    serves at that address, which is loopback or the pod's own
//
// It serves the API server's requests by TLS, with the CA in $PLUMBLINE_CA, and the harness's without.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // it is main
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "interposer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: interposer HOST:PORT")
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	proxy, err := faults.New(ctx, config)
	if err != nil {
		return err
	}
	defer proxy.Close() //nolint:errcheck // the process ends
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	controls := proxy.Controls()
	mux.Handle(faults.Control, controls)
	mux.Handle(faults.Control+"/", controls)
	mux.HandleFunc("GET "+faults.Ready, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	return simulator.Serve(ctx, args[0], mux)
}
