package invariant

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
)

// leads returns the Event that says who has a lease now.
func leads(lease string) *historytest.Thing {
	leases := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	return historytest.Report("host_1", "LeaderElection", historytest.Other(leases, "Lease", "kube-system", lease))
}
