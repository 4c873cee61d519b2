package placement

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// window is the API server that a scheduler sees: the cluster with new nodes. What the scheduler
// reads comes from the cluster, pods and nodes as they were at the start. Nothing that it
// writes gets there. No watch has events.
type window struct {
	host    string // of the cluster's API server
	through *http.Client
	lists   map[string][]byte // by path
	nodes   map[string]*NewNode

	mu       sync.Mutex
	waiting  map[string]corev1.Pod // without an answer, by namespace/name
	answers  map[string]Answer
	answered chan struct{} // closed when there are all answers
}

func (w *window) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		w.write(rw, r)
	case query.Get("sendInitialEvents") == "true": // it lists instead
		refuse(rw, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case query.Get("watch") == "true" || query.Get("watch") == "1":
		rw.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	case w.lists[r.URL.Path] != nil:
		_, _ = rw.Write(w.lists[r.URL.Path])
	default:
		w.read(rw, r)
	}
}

// read passes a request on to the cluster.
func (w *window) read(rw http.ResponseWriter, r *http.Request) {
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodGet, w.host+r.URL.RequestURI(), nil)
	if err != nil {
		refuse(rw, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	asked.Header.Set("Accept", "application/json")
	answer, err := w.through.Do(asked)
	if err != nil {
		refuse(rw, http.StatusBadGateway, metav1.StatusReasonServiceUnavailable)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	rw.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(rw, answer.Body)
}

// write understands what the scheduler has decided, and pretends that it was done.
func (w *window) write(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(rw, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method == http.MethodDelete || len(path) < 5 || path[2] != "namespaces" || path[4] != "pods" || len(path) < 6 {
		w.writeOther(path, body)
		_, _ = rw.Write(body)
		return
	}
	id := path[3] + "/" + path[5]
	pod, about := w.pod(id)
	switch {
	case r.Method == http.MethodPost: // .../pods/name/binding
		var binding corev1.Binding
		if json.Unmarshal(body, &binding) == nil {
			w.answer(id, Answer{On: w.nodes[binding.Target.Name], Why: "it fits on node " + binding.Target.Name})
		}
		rw.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(rw).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		})
	case about:
		if why, refused := refusal(body); refused {
			w.answer(id, Answer{Why: why})
		}
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		_ = json.NewEncoder(rw).Encode(pod)
	default:
		refuse(rw, http.StatusNotFound, metav1.StatusReasonNotFound)
	}
}

// writeOther understands a change of a PersistentVolumeClaim. Before the scheduler binds a pod
// whose volume must be made first, it says there for which node.
func (w *window) writeOther(path []string, body []byte) {
	var volume corev1.PersistentVolumeClaim
	if len(path) != 6 || path[4] != "persistentvolumeclaims" || json.Unmarshal(body, &volume) != nil {
		return
	}
	on := w.nodes[volume.Annotations[selectedNode]]
	if on == nil {
		return
	}
	w.mu.Lock()
	var users []string
	for id, pod := range w.waiting {
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil && pod.Namespace == path[3] && v.PersistentVolumeClaim.ClaimName == path[5] {
				users = append(users, id)
			}
		}
	}
	w.mu.Unlock()
	for _, id := range users {
		w.answer(id, Answer{On: on})
	}
}

// selectedNode is the annotation of the node for which a volume is to be made (Kubernetes:
// k8s.io/component-helpers/storage/volume, AnnSelectedNode).
const selectedNode = "volume.kubernetes.io/selected-node"

// refusal returns why the scheduler found no place, from its patch of a pod's status.
func refusal(patch []byte) (string, bool) {
	var changed struct {
		Status corev1.PodStatus `json:"status"`
	}
	if json.Unmarshal(patch, &changed) != nil {
		return "", false
	}
	for _, c := range changed.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message, true
		}
	}
	return "", false
}

func (w *window) pod(id string) (corev1.Pod, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod, waits := w.waiting[id]
	return pod, waits
}

// left returns the pods without an answer, sorted.
func (w *window) left() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.waiting))
}

// answer keeps the first answer for a pod.
func (w *window) answer(id string, a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, waits := w.waiting[id]; !waits {
		return
	}
	delete(w.waiting, id)
	w.answers[id] = a
	if len(w.waiting) == 0 {
		close(w.answered)
	}
}

func refuse(rw http.ResponseWriter, code int, reason metav1.StatusReason) {
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: reason, Code: int32(code), //nolint:gosec // an HTTP status
	})
}
