package local

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// healthClient returns a client for the components' health endpoints. It verifies no
// certificates, because the controller manager and the scheduler sign their own.
func healthClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // see above
	}
}

// healthURL returns a component's health endpoint. None of them depends on another component.
func healthURL(component string, taken map[string]int) string {
	scheme, path := "https", "/healthz"
	switch component {
	case etcd:
		scheme, path = "http", "/health"
	case apiserver:
		path = "/livez/ping"
	case kwokController:
		scheme = "http"
	}
	return fmt.Sprintf("%s://127.0.0.1:%d%s", scheme, taken[component], path)
}

// Components lists the supervised components, without those stopped or paused on purpose.
func (l *local) Components() []cluster.Component {
	var all []cluster.Component
	for _, name := range components() {
		if _, watched := l.supervisor.process(name); !watched {
			continue
		}
		all = append(all, cluster.Component{
			Name: name,
			Ask: func(ctx context.Context) error {
				_, err := httpGet(ctx, l.health, healthURL(name, l.taken))
				return err
			},
			Log: func(context.Context) []string { return lastLines(l.supervisor.logFile(name), tailLines) },
		})
	}
	return all
}
