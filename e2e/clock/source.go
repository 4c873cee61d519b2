package clock

import (
	"context"
	"embed"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// The source of bend travels with the harness, so that those who import it have
// the one that fits.
//
//go:embed page inject waits keep bend
var source embed.FS

// Bend builds the program that starts others by a clock, unless it is in the
// cache, and returns its path.
func Bend(ctx context.Context, c *build.Cache) (string, error) {
	const module = "github.com/plumbline-e2e/plumbline/e2e/clock"
	return c.Source(ctx, module, source, "./bend")
}
