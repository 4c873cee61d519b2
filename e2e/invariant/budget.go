package invariant

import (
	"math"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Reasons of voluntary disruption (Karpenter: pkg/apis/v1/nodepool.go, DisruptionReason).
// Unhealthy is for node repair, since v1.15.
const (
	drifted       = "Drifted"
	underutilized = "Underutilized"
	empty         = "Empty"
	unhealthy     = "Unhealthy"
)

// budget is one of spec.disruption.budgets of a NodePool.
type budget struct {
	nodes    intstr.IntOrString
	reasons  []string      // empty: all
	schedule cron.Schedule // nil: always
	duration time.Duration
	broken   bool // unreadable: the API server refuses it, and so did Karpenter
}

func budgetsOf(spec []map[string]any) []budget {
	var all []budget
	for _, b := range spec {
		nodes, _ := b["nodes"].(string)
		read := budget{nodes: intstr.Parse(nodes)}
		read.reasons, _, _ = unstructured.NestedStringSlice(b, "reasons")
		if schedule, scheduled := b["schedule"].(string); scheduled {
			duration, _ := b["duration"].(string)
			var err, err2 error
			read.schedule, err = cron.ParseStandard("TZ=UTC " + schedule)
			read.duration, err2 = time.ParseDuration(duration)
			read.broken = err != nil || err2 != nil
		}
		all = append(all, read)
	}
	return all
}

// active reports whether the budget's window is open: it opened at most its duration ago
// (Karpenter: pkg/apis/v1/nodepool.go, IsActive).
func (b budget) active(now time.Time) bool {
	return b.schedule == nil || !b.schedule.Next(now.UTC().Add(-b.duration)).After(now.UTC())
}

// allowedDisruptions returns how many nodes of a pool may be disrupted at a time for this
// reason: the minimum over the active budgets for the reason or for all reasons. Percentages
// round up (Karpenter: pkg/apis/v1/nodepool.go, GetAllowedDisruptionsByReason).
func allowedDisruptions(budgets []budget, nodes int, reason string, now time.Time) int {
	least := math.MaxInt32
	for _, b := range budgets {
		if b.broken {
			return 0
		}
		if !b.active(now) || len(b.reasons) > 0 && !slices.Contains(b.reasons, reason) {
			continue
		}
		n, err := intstr.GetScaledValueFromIntOrPercent(&b.nodes, nodes, true)
		if err != nil {
			return 0
		}
		least = min(least, n)
	}
	return least
}
