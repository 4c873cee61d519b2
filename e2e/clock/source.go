package clock

import (
	"context"
	"embed"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// source travels with the harness, so that those who import it have the shim that fits.
//
//go:embed governor ptrace shim shm
var source embed.FS

// Shim builds the program that starts others on a clock, unless it is in the cache, and
// returns its path.
func Shim(ctx context.Context, c *build.Cache) (string, error) {
	const module = "github.com/plumbline-e2e/plumbline/e2e/clock"
	return c.Source(ctx, module, source, "./shim")
}
