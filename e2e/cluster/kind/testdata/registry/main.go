// A registry that keeps what it has in memory, for a network of containers.
package main

import (
	"log"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	server := &http.Server{Addr: ":5000", Handler: registry.New(), ReadHeaderTimeout: time.Minute}
	log.Fatal(server.ListenAndServe())
}
