package cloud

import (
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// strain is a way in which a cloud is slow or late, but not wrong.
type strain struct {
	how   string
	hook  providers.HookName
	about providers.HookValues
}

func strains() map[string]strain {
	return map[string]strain{
		"throttled":   {"that throttles calls", providers.Throttle, providers.HookValues{Count: 20}},
		"slow":        {"that answers slowly", providers.SlowDown, providers.HookValues{}},
		"stale-lists": {"whose lists are out of date", providers.StaleLists, providers.HookValues{}},
	}
}

// refusedLaunches counts the launches that failed for want of capacity: each is of a
// NodeClaim that is given up.
func refusedLaunches(since history.Mark) check.Count {
	return check.Reports(karpenter.ReasonInsufficientCapacity, nil).New(since)
}
