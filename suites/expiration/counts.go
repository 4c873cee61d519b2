package expiration

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// ttl is the age at which nodes expire in these specs: as short as leaves time
// to launch a node and see its pods run.
const ttl = 30 * time.Second

// tolerated is how long after that age a deletion is asked for at the latest.
const tolerated = 10 * time.Second

// late is how long after that age a node is gone at the latest: its deletion is
// asked for within seconds, and nothing holds its pods.
const late = 15 * time.Second

// gracePeriod is the terminationGracePeriod of these nodes.
const gracePeriod = 10 * time.Second

// expiring checks that a NodeClaim of the pool was deleted and its node went.
func expiring(pool *fixtures.Pool) check.Check {
	return check.LeadsTo(
		check.AtLeast(1, check.NodeClaims(pool).Deleting()),
		check.AtLeast(1, check.Nodes(pool).Deleting()))
}
