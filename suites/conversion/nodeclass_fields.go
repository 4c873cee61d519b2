package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClass says the same in v1beta1 and in v1, whichever of them it was written in, and after any
// client has written it in either version. It decides which image, network, disks and rights a node
// gets: what is lost replaces nodes, or lets them start in a way that nobody has asked for. The
// adapter lists NodeClasses that have all fields between them.
//
// Source: "Migration Path" in designs/v1-api.md; the provider's guide of the upgrade to 1.0, such as
// https://karpenter.sh/v1.0/upgrading/v1-migration.
var _ = e2e.Table(Suite, map[string]written{
	"v1beta1": {"keeps each field of v1beta1 NodeClasses", karpenter.V1Beta1},
	"v1":      {"keeps each field of v1 NodeClasses", karpenter.NodeClaims.Version},
}, func(row written) e2e.Spec {
	return e2e.Spec{
		Name: row.name, Needs: nodeClasses(),
		Run: func(ctx context.Context, env *e2e.Env) {
			written, read := env.ConvertedNodeClasses(ctx, row.in)
			roundTrips(ctx, env, written, read)
		},
	}
})

// written says in which version NodeClasses are written.
type written struct{ name, in string }

// nodeClasses returns what specs of NodeClasses in two versions need.
func nodeClasses() []providers.Capability {
	return []providers.Capability{providers.Conversion, providers.NodeClassConversion}
}
