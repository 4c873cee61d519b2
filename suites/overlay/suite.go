// Package overlay holds the promises about NodeOverlays. With them, users correct what a
// provider says about its instance types. An overlay of a price decides which type is the
// cheapest. The heaviest of several overlays applies. An overlay of capacity gives nodes
// to pods with extended resources. Conflicting overlays are reported.
//
// Sources: designs/node-overlay.md and the NodeOverlay API
// (karpenter.sh/v1alpha1), which is behind the feature gate NodeOverlay.
package overlay

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "node overlay ...".
var Suite = &e2e.Suite{
	Name:  "node overlay",
	Needs: []providers.Capability{providers.NodePools, providers.NodeOverlay},
	Gate:  "NodeOverlay",
	Since: e2e.Since{Karpenter: karpenter.OverlaysSince},
}
