//go:build e2e

package suites_test

import (
	"os"
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
	"github.com/plumbline-e2e/plumbline/suites/upgrade"
)

// TestConformance is the test of `make e2e`. PROVIDER is a provider of this repository or the
// path of an adapter file.
func TestConformance(t *testing.T) { e2e.Run(t, provider(), suites.All()...) }

// TestUpgrade is the test of `make upgrade`, from the release KARPENTER to the release TO.
func TestUpgrade(t *testing.T) { e2e.Run(t, provider(), upgrade.Suite) }

// TestFaults is the test of `make crash` and `make faults`. FAULT_POINTS is a file with the faults.
func TestFaults(t *testing.T) {
	struck, err := e2e.WithFaults(os.Getenv("FAULT_POINTS"), suites.All()...)
	if err != nil {
		t.Fatal(err)
	}
	e2e.Run(t, provider(), struck...)
}

func provider() *providers.Adapter {
	name := os.Getenv("PROVIDER")
	if name == "" {
		name = "kwok"
	}
	return providers.Named(name)
}
