package chaos

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

// Karpenter launches one node for a pod, whichever of its calls to the cloud fails or is its last. A cloud may have
// launched an instance that nobody knows of: it must not become a second node for long, and must not be left.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims: a NodeClaim is the record of a launch.
var _ = e2e.Table(Suite, map[string]struct {
	name  string
	fault faults.Fault
}{
	"launch-unsent":     {"it is killed before it asks the cloud for an instance", faults.CrashBefore(launches())},
	"launch-unanswered": {"it is killed before it learns of its instance", faults.CrashAfter(launches())},
	"failing": {
		"the cloud fails for two launches",
		faults.Refuse(launches(), apierrors.NewInternalError(errors.New("a fault"))).Times(2),
	},
}, func(row struct {
	name  string
	fault faults.Fault
},
) e2e.Spec {
	return givesOneNode(row.name, row.fault)
})

// launches selects the calls by which a provider launches instances, whatever their names.
func launches() faults.Requests { return faults.OnCall("launch") }
