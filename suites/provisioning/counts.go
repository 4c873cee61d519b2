package provisioning

import (
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// settled is how long a pool is given to do what it must not, after it has
// said no: pods that could not be scheduled are tried again with every batch,
// no later than ten seconds after the last time.
const settled = 12 * time.Second

// labelled counts a pool's nodes with a label.
func labelled(pool *fixtures.Pool, key, value string) check.Count {
	return check.Nodes(pool).With(fmt.Sprintf("with the label %s=%s", key, value), check.Labeled(key, value))
}

// refusals counts Karpenter's events which say that no node fits a pod of a
// workload. The scheduler's own events of the same reason don't count.
func refusals(app *fixtures.Workload) check.Count {
	return check.Reports(karpenter.ReasonFailedScheduling, app)
}
