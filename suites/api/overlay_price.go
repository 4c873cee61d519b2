package api

import (
	"context"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The API server accepts no price that the controller can't read. One such NodeOverlay hides the
// instance types of all NodePools that it applies to, and nothing is launched for them.
//
// Source: spec.price and spec.priceAdjustment of the NodeOverlay API; https://pkg.go.dev/strconv#ParseFloat,
// "more than 1/2 ULP away from the largest floating point number".
var _ = Suite.Add(e2e.Spec{
	Name:  "refuses a NodeOverlay's price that is too large for any controller",
	Needs: []providers.Capability{providers.NodeOverlay},
	Gate:  "NodeOverlay",
	Since: e2e.Since{Karpenter: karpenter.OverlaysSince},
	Known: []e2e.Known{{
		Releases: ">=1.8.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the patterns are the same in v1.9.0
		Issue:    e2e.Finding("karpenter-values-that-stop-everything"),
		Reason:   "prices of 310 digits are accepted, and then the controller panics whenever it reads instance types",
		Breaks:   []string{"it should have been refused"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		tooLarge := strings.Repeat("9", 310)
		env.Refused(ctx, "spec.price",
			fixtures.NodeOverlay().Price(tooLarge), fixtures.NodeOverlay().PriceAdjustment("+"+tooLarge))
		env.Accepted(ctx, fixtures.NodeOverlay().Price("9.99"), fixtures.NodeOverlay().PriceAdjustment("+9.99"))
	},
})
