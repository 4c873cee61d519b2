// Package overlay holds what is promised of NodeOverlays, by which users correct
// what a provider says of its instance types. An overlay of a price decides which
// type is the cheapest, and the heaviest of several overlays is the one that
// counts; an overlay of capacity has pods with extended resources served; overlays
// that contradict each other are reported.
//
// Sources: designs/node-overlay.md and the NodeOverlay API
// (karpenter.sh/v1alpha1), which is behind the feature gate NodeOverlay.
package overlay

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "node overlay ...".
var Suite = &e2e.Suite{
	Name:  "node overlay",
	Needs: []providers.Capability{providers.NodePools, providers.NodeOverlay},
	Gate:  "NodeOverlay",
	Since: e2e.Since{Karpenter: "1.8"},
}
