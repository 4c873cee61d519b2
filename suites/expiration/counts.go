package expiration

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// ttl is the age at which nodes expire in these specs: as short as leaves time
// to launch a node and see its pods run.
const (
	ttl       = "30s"
	ttlLength = 30 * time.Second
)

// expiring checks that a NodeClaim of the pool was deleted and its node went.
func expiring(pool *fixtures.Pool) check.Check {
	return check.LeadsTo(
		check.AtLeast(1, check.ClaimsWith(pool, karpenter.Deleting, "that are being deleted")),
		check.AtLeast(1, check.NodesWith(pool, karpenter.Deleting, "that are being deleted")))
}
