package expiration

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// tolerated is how long after that age a deletion is asked for at the latest.
const tolerated = 10 * time.Second

// aged says whether a NodeClaim's deletion was asked for at an age, or later by no more
// than that. The API server's times are whole seconds.
func aged(age, late time.Duration) func(*unstructured.Unstructured) bool {
	return func(claim *unstructured.Unstructured) bool {
		was := claim.GetDeletionTimestamp().Sub(claim.GetCreationTimestamp().Time)
		return was >= age-time.Second && was <= age+late
	}
}

// late is how long after that age a node is gone at the latest: its deletion is
// asked for within seconds, and nothing holds its pods.
const late = 15 * time.Second

// The terminationGracePeriod of these nodes, and how long after its beginning a
// drain is given: Karpenter looks again every few seconds.
const (
	gracePeriod = "10s"
	drained     = 25 * time.Second
)

// settled is how long a drain is watched that waits, or a pool that has all that
// it needs.
const settled = 5 * time.Second

// protection is the merge patch by which a node must not be disrupted.
const protection = `{"metadata":{"annotations":{"` + karpenter.DoNotDisruptAnnotation + `":"true"}}}`

// initialized counts a pool's nodes that Karpenter has found to be ready for work.
func initialized(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, check.Labeled(karpenter.InitializedLabel, "true"), "that are initialized")
}

// expiring checks that a NodeClaim of the pool was deleted and its node went.
func expiring(pool *fixtures.Pool) check.Check {
	return check.LeadsTo(
		check.AtLeast(1, check.ClaimsWith(pool, karpenter.Deleting, "that are being deleted")),
		check.AtLeast(1, check.NodesWith(pool, karpenter.Deleting, "that are being deleted")))
}
