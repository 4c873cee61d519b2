package karpenter

import (
	"math"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Budget is one of spec.disruption.budgets of a NodePool.
type Budget struct {
	Reasons  []string // empty: all
	nodes    intstr.IntOrString
	schedule cron.Schedule // nil: always
	duration time.Duration
	broken   bool // unreadable: the API server refuses it, and so did Karpenter
}

// Budgets returns a NodePool's disruption budgets.
func Budgets(pool *unstructured.Unstructured) []Budget {
	var all []Budget
	for b := range mappings(pool, fieldBudgets) {
		read := Budget{nodes: intstr.Parse(text(b, "nodes"))}
		read.Reasons, _, _ = unstructured.NestedStringSlice(b, "reasons")
		if schedule, scheduled := b["schedule"].(string); scheduled {
			var err, err2 error
			read.schedule, err = cron.ParseStandard("TZ=UTC " + schedule)
			read.duration, err2 = time.ParseDuration(text(b, "duration"))
			read.broken = err != nil || err2 != nil
		}
		all = append(all, read)
	}
	return all
}

// active reports whether the budget's window is open: it opened at most its duration ago
// (Karpenter: pkg/apis/v1/nodepool.go, IsActive). A schedule that never comes has no next time, which is zero.
func (b Budget) active(now time.Time) bool {
	if b.schedule == nil {
		return true
	}
	next := b.schedule.Next(now.UTC().Add(-b.duration))
	return !next.IsZero() && !next.After(now.UTC())
}

// AllowedDisruptions returns how many of a pool's nodes may be disrupted at a time for this
// reason: the minimum over the active budgets for the reason or for all reasons. Percentages
// round up. Without a budget it is math.MaxInt32 (Karpenter: pkg/apis/v1/nodepool.go,
// GetAllowedDisruptionsByReason).
func AllowedDisruptions(budgets []Budget, nodes int, reason string, now time.Time) int {
	least := math.MaxInt32
	for _, b := range budgets {
		if b.broken {
			return 0
		}
		if !b.active(now) || len(b.Reasons) > 0 && !slices.Contains(b.Reasons, reason) {
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
