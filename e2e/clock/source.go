package clock

import (
	"context"
	"embed"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// source is the shim's source. It is embedded so that importers build the matching shim.
//
//go:embed governor ptrace shim shm
var source embed.FS

// Shim returns the path of the program shim, and builds it unless it is in the cache.
func Shim(ctx context.Context, c *build.Cache) (string, error) {
	const module = "github.com/plumbline-e2e/plumbline/e2e/clock"
	return c.Source(ctx, module, source, "./shim")
}
