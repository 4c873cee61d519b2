package invariant

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// staleWrites recognises conditions of NodeClaims that a controller has written again as it had read them, when it
// meant to change another one. Karpenter replaces the whole list of conditions, in places without regard to what was
// written meanwhile (Karpenter: pkg/controllers/nodeclaim/lifecycle/controller.go; pkg/controllers/state/statenode.go,
// for DisruptionReason; seen from v1.9.0 to v1.15.0 on busy machines). A condition that was true is false then until
// somebody writes it again, and nothing is wrong with what it is about.
type staleWrites struct {
	versions map[string][]*history.Object // the earlier versions of each NodeClaim, by UID
}

// observe remembers the version before the moment's.
func (s *staleWrites) observe(m *check.Moment) {
	if m.Resource() != karpenter.NodeClaims || m.Before == nil {
		return
	}
	if s.versions == nil {
		s.versions = map[string][]*history.Object{}
	}
	s.versions[m.Before.UID] = append(s.versions[m.Before.UID], m.Before)
}

// stale says whether the moment's NodeClaim has a condition of this type as it once was, and another one that is new:
// what its writer had to say.
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
