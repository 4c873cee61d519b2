// Package conversion tests that NodePools and NodeClaims of v1beta1 and of v1 are one and the same.
// Releases 1.0 serve both versions: users upgrade first, and rewrite their manifests later. A webhook
// of the provider converts whatever is read or written in the version that isn't stored. A field that
// it loses changes the nodes of users who have changed nothing.
//
// Sources: designs/v1-api.md, "Migration Path" and "Changes to the API"; designs/v1beta1-api.md of
// Karpenter v0.32; "Versions in CustomResourceDefinitions" in Kubernetes' documents, which asks that a
// conversion loses nothing on the way back.
package conversion

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "conversion ...".
var Suite = &e2e.Suite{
	Name:  "conversion",
	Needs: []providers.Capability{providers.NodePools, providers.Conversion},
}
