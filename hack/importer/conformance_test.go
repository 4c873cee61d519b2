// Package example stands for a provider's repository. It is a separate module and holds all
// that such a repository needs: this test, the adapter beside it, and a require in go.mod.
package example

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

func TestConformance(t *testing.T) {
	e2e.Run(t, providers.Load("plumbline.yaml"), suites.All()...)
}
