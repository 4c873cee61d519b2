package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LacksRights is the error of a controller whose own roles don't give it what
// it asks of the API server.
type LacksRights struct {
	ServiceAccount string   // namespace/name
	Rights         []string // verbs and resources, such as "list on nodepools.karpenter.sh"
}

func (l *LacksRights) Error() string {
	return fmt.Sprintf("the ClusterRole (or Role) of its service account %s lacks %s", l.ServiceAccount, strings.Join(l.Rights, ", "))
}

// Denials counts what the API server refused the controller for want of
// rights, as the lines of its log tell: keys such as "list on pods". Lines that
// the adapter tolerates don't count.
func (i *Installed) Denials(log []string) map[string]int {
	return denials(log, tolerated(i.adapter.Controller.Logs))
}

// Lacking is the LacksRights of a controller that was denied something.
func (i *Installed) Lacking(denied map[string]int) error {
	return &LacksRights{ServiceAccount: i.Namespace + "/" + i.serviceAccount, Rights: slices.Sorted(maps.Keys(denied))}
}

func denials(log []string, ignore func(string) bool) map[string]int {
	found := map[string]int{}
	for _, line := range log {
		if verb, resource, ok := ForbiddenIn(line); ok && (ignore == nil || !ignore(line)) {
			found[verb+" on "+resource]++
		}
	}
	return found
}
