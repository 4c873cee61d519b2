package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LacksRights is the error of a controller whose roles lack rights that it needs.
type LacksRights struct {
	ServiceAccount string   // namespace/name
	Rights         []string // verbs and resources, such as "list on nodepools.karpenter.sh"
}

func (l *LacksRights) Error() string {
	return fmt.Sprintf("the ClusterRole (or Role) of its service account %s lacks %s", l.ServiceAccount,
		strings.Join(l.Rights, ", "))
}

// Denials counts, by log lines, the controller's requests that RBAC denied. Keys are such as
// "list on pods". Lines that the adapter tolerates don't count.
func (i *Installed) Denials(log []string) map[string]int {
	return countDenials(log, tolerated(i.adapter.Controller.Logs))
}

// Lacking returns a LacksRights with these denials.
func (i *Installed) Lacking(denied map[string]int) error {
	return &LacksRights{ServiceAccount: i.Namespace + "/" + i.serviceAccount, Rights: slices.Sorted(maps.Keys(denied))}
}

func countDenials(log []string, ignore func(string) bool) map[string]int {
	found := map[string]int{}
	for _, line := range log {
		if verb, resource, ok := ForbiddenIn(line); ok && (ignore == nil || !ignore(line)) {
			found[verb+" on "+resource]++
		}
	}
	return found
}
