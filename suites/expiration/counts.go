package expiration

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// ttl is the age at which nodes expire in these specs. It leaves just enough time to launch a
// node and run its pods.
const ttl = 30 * time.Second

// tolerated bounds the delay between that age and the request to delete.
const tolerated = 10 * time.Second

// late bounds the time from that age until the node is gone. Deletion is requested within
// seconds, and nothing holds the pods.
const late = 15 * time.Second

// gracePeriod is the terminationGracePeriod of these nodes.
const gracePeriod = 10 * time.Second

// expires checks that a NodeClaim of the pool was deleted and its node went.
func expires(pool *fixtures.Pool) check.Check {
	return check.LeadsTo(
		check.AtLeast(1, check.NodeClaims(pool).Deleting()),
		check.AtLeast(1, check.Nodes(pool).Deleting()))
}
