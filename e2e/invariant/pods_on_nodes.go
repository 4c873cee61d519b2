package invariant

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// podsOnNodes holds the pods of each node, by the node's name and the pod's UID.
type podsOnNodes map[string]map[string]boundPod

// boundPod is a pod on a node.
type boundPod struct {
	*history.Object
	since time.Time // when its binding was seen; zero if at the start
}

func (p podsOnNodes) observe(m *check.Moment) {
	for _, pod := range m.Seen(karpenter.Pods) {
		node := karpenter.PodNode(pod.Unstructured())
		if node == "" {
			continue
		}
		if p[node] == nil {
			p[node] = map[string]boundPod{}
		}
		since := m.Since()
		if known, bound := p[node][pod.UID]; bound {
			since = known.since
		}
		p[node][pod.UID] = boundPod{pod, since}
	}
	if m.Deleted() && m.Resource() == karpenter.Pods {
		delete(p[karpenter.PodNode(m.Event.Object.Unstructured())], m.Event.Object.UID)
	}
}

// podsOf returns the pods of a node, sorted by name.
func (p podsOnNodes) podsOf(node string) []boundPod {
	return slices.SortedFunc(maps.Values(p[node]), func(a, b boundPod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
