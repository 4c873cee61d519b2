//go:build e2e

package suites_test

import (
	"os"
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

// TestConformance is the test of `make e2e`. PROVIDER is a provider of this repository or the
// path of an adapter file.
func TestConformance(t *testing.T) {
	provider := os.Getenv("PROVIDER")
	if provider == "" {
		provider = "kwok"
	}
	e2e.Run(t, providers.Named(provider), suites.All()...)
}
