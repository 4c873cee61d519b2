package invariant

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// staleWrites detects conditions of NodeClaims that a controller overwrote with an older
// state, when it meant to change another one. Karpenter replaces the whole list of conditions,
// in places without regard to newer writes (Karpenter:
// pkg/controllers/nodeclaim/lifecycle/controller.go; pkg/controllers/state/statenode.go, for
// DisruptionReason; seen from v1.9.0 to v1.15.0 on busy machines). A true condition is then
// false until it is written again, though nothing is wrong.
type staleWrites struct {
	versions map[string][]*history.Object // the earlier versions of each NodeClaim, by UID
}

// observe remembers the NodeClaim before the moment.
func (s *staleWrites) observe(m *check.Moment) {
	if m.Resource() != karpenter.NodeClaims || m.Before == nil {
		return
	}
	if s.versions == nil {
		s.versions = map[string][]*history.Object{}
	}
	s.versions[m.Before.UID] = append(s.versions[m.Before.UID], m.Before)
}

// stale reports whether the NodeClaim has a condition of this type as it once was, and another
// one that is new: the one that its writer meant to change.
func (s *staleWrites) stale(m *check.Moment, conditionType string) bool {
	if m.Resource() != karpenter.NodeClaims {
		return false
	}
	versions := s.versions[m.Event.Object.UID]
	was := func(c metav1.Condition) bool {
		return slices.ContainsFunc(versions, func(o *history.Object) bool {
			old, found := karpenter.Condition(o.Unstructured(), c.Type)
			return found && old.Status == c.Status && old.Reason == c.Reason &&
				old.LastTransitionTime.Equal(&c.LastTransitionTime)
		})
	}
	again, news := false, false
	for _, c := range karpenter.Conditions(m.Event.Object.Unstructured()) {
		switch {
		case c.Type == conditionType:
			again = was(c)
		case c.Type != karpenter.Ready:
			news = news || !was(c)
		}
	}
	return again && news
}
