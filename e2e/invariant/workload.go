package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// workload is how many pods an owner has, now and a little while ago: as many as it
// had at most in that time is what it wants to have.
type workload struct {
	active int
	recent []headcount // the last is how it is now
}

type headcount struct {
	from   time.Time
	active int
}

// workload is a pod's, made when first asked for.
func (b *podBudgets) workload(pod *history.Object) *workload {
	id := pod.UID // a pod without an owner is one by itself
	if owners := list(pod.Unstructured(), "metadata", "ownerReferences"); len(owners) > 0 {
		uid, _ := owners[0]["uid"].(string)
		name, _ := owners[0]["name"].(string)
		id = pod.Namespace + "/" + name + "/" + uid
	}
	if b.workloads[id] == nil {
		b.workloads[id] = &workload{}
	}
	return b.workloads[id]
}

func (w *workload) change(by int, now time.Time) {
	w.active += by
	w.recent = append(w.recent, headcount{now, w.active})
	for len(w.recent) > 1 && now.Sub(w.recent[1].from) > stale {
		w.recent = w.recent[1:]
	}
}

// wanted is how many pods the workload had at most until now.
func (w *workload) wanted(now time.Time) int {
	most := w.active
	for i, h := range w.recent {
		if i+1 == len(w.recent) || now.Sub(w.recent[i+1].from) <= stale {
			most = max(most, h.active)
		}
	}
	return most
}

// replaceable says whether a pod is one of those that are made anew wherever there is
// room, when they go.
func replaceable(pod *unstructured.Unstructured) bool {
	return ownedBy(pod, "ReplicaSet") || ownedBy(pod, "StatefulSet") || ownedBy(pod, "ReplicationController")
}

// revision is which template of a StatefulSet a pod was made from (Kubernetes:
// apps/v1 ControllerRevisionHashLabelKey); a ReplicaSet has one only.
func revision(pod *history.Object) string {
	return karpenter.Label(pod.Unstructured(), "controller-revision-hash")
}
