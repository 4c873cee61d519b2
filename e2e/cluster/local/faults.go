package local

import (
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"

	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

// Faults returns the proxy that pods take for the API server.
func (l *local) Faults() *faults.Proxy { return l.faults }

// interpose starts the proxy between the pods and the API server. kwokctl gives all components one certificate, so the
// proxy has the API server's own.
func (l *local) interpose(ctx context.Context, pki string) (*faults.Proxy, error) {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.crt"), filepath.Join(pki, "admin.key"))
	if err != nil {
		return nil, fmt.Errorf("the API server's certificate: %w", err)
	}
	return faults.Listen(ctx, l.access, certificate)
}
