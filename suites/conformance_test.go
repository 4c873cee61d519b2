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

func provider() *providers.Adapter {
	name := os.Getenv("PROVIDER")
	if name == "" {
		name = "kwok"
	}
	return providers.Named(name)
}
