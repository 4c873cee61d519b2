package history

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var (
	pods   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodes  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	events = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	pools  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
)

// fakeAPI is the part of an API server that the recorder uses: lists, and watches from a
// resourceVersion. It can fail on purpose.
type fakeAPI struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	revision  int
	compacted int // watches from before this revision get 410
	objects   map[string]string
	lines     []fakeLine
	changed   chan struct{}
	lists     []fault // of the next lists, in order
	watches   []fault // of the next watches, in order
	watched   int     // number of watches opened so far
}

type fakeLine struct {
	revision int
	resource string
	text     string
}

// fault is a way in which an answer goes wrong.
type fault func(f *fakeAPI, w http.ResponseWriter, r *http.Request)

func newFakeAPI(t *testing.T) *fakeAPI {
	t.Helper()
	f := &fakeAPI{t: t, revision: 100, objects: map[string]string{}, changed: make(chan struct{})}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fakeAPI) config() *rest.Config { return &rest.Config{Host: f.URL} }

// say adds an event and returns the object's new resourceVersion.
func (f *fakeAPI) say(kind, resource, name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	object := fmt.Sprintf(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":%q,"uid":"u-%s","resourceVersion":"%d"}}`,
		name, name, f.revision)
	key := resource + "/" + name
	if kind == "DELETED" {
		delete(f.objects, key)
	} else {
		f.objects[key] = object
	}
	f.lines = append(f.lines, fakeLine{f.revision, resource, fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object)})
	close(f.changed)
	f.changed = make(chan struct{})
	return f.revision
}

// compact drops all events so far: no watch can resume from before.
func (f *fakeAPI) compact() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	f.compacted = f.revision
}

// watchesSoFar returns how many watches were asked for.
func (f *fakeAPI) watchesSoFar() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watched
}

func (f *fakeAPI) failWatches(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches = append(f.watches, faults...)
}

func (f *fakeAPI) failLists(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists = append(f.lists, faults...)
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		if fail := f.next(&f.lists); fail != nil {
			fail(f, w, r)
			return
		}
		f.list(w, r)
		return
	}
	f.mu.Lock()
	f.watched++
	f.mu.Unlock()
	if fail := f.next(&f.watches); fail != nil {
		fail(f, w, r)
		return
	}
	f.watch(w, r, 0)
}

func (f *fakeAPI) next(faults *[]fault) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(*faults) == 0 {
		return nil
	}
	first := (*faults)[0]
	*faults = (*faults)[1:]
	return first
}

func resourceIn(r *http.Request) string {
	return r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
}

func (f *fakeAPI) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	objects, revision := f.objects, f.revision
	if r.URL.Query().Get("resourceVersionMatch") == "Exact" {
		revision, _ = strconv.Atoi(r.URL.Query().Get("resourceVersion"))
		objects = f.objectsAt(revision)
	}
	var items []json.RawMessage
	for key, o := range objects {
		if strings.HasPrefix(key, resourceIn(r)+"/") {
			// Lists of Kubernetes' own kinds have items without a kind.
			items = append(items, json.RawMessage(strings.Replace(o, `"kind":"Thing","apiVersion":"v1",`, "", 1)))
		}
	}
	answer := map[string]any{
		"kind": "ThingList", "apiVersion": "v1",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(revision)}, "items": items,
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		f.t.Errorf("list: %v", err)
	}
}

// objectsAt returns what there was at a revision.
func (f *fakeAPI) objectsAt(revision int) map[string]string {
	objects := map[string]string{}
	for _, l := range f.lines {
		if l.revision > revision {
			break
		}
		var line struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := json.Unmarshal([]byte(l.text), &line); err != nil {
			f.t.Errorf("line %s: %v", l.text, err)
		}
		var o struct {
			Metadata struct{ Name string } `json:"metadata"`
		}
		if err := json.Unmarshal(line.Object, &o); err != nil {
			f.t.Errorf("line %s: %v", l.text, err)
		}
		if objects[l.resource+"/"+o.Metadata.Name] = string(line.Object); line.Type == "DELETED" {
			delete(objects, l.resource+"/"+o.Metadata.Name)
		}
	}
	return objects
}

// watch serves a watch, and returns after n events (0: never).
func (f *fakeAPI) watch(w http.ResponseWriter, r *http.Request, n int) {
	position, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		f.t.Errorf("watch from %q", r.URL.Query().Get("resourceVersion"))
	}
	f.mu.Lock()
	compacted := f.compacted
	f.mu.Unlock()
	if position < compacted {
		status(http.StatusGone, "Expired")(f, w, r)
		return
	}
	w.(http.Flusher).Flush()
	for sent := 0; ; {
		lines, changed := f.after(position, resourceIn(r))
		for _, l := range lines {
			fmt.Fprintln(w, l.text)
			position = l.revision
			if sent++; sent == n {
				w.(http.Flusher).Flush()
				return
			}
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fakeAPI) after(position int, resource string) ([]fakeLine, chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []fakeLine
	for _, l := range f.lines {
		if l.resource == resource && l.revision > position {
			lines = append(lines, l)
		}
	}
	return lines, f.changed
}

// ends returns a watch that the server ends after n events.
func ends(n int) fault {
	return func(f *fakeAPI, w http.ResponseWriter, r *http.Request) { f.watch(w, r, n) }
}

// breaks returns a watch whose connection breaks after n events, within the next line.
func breaks(n int) fault {
	return func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		if n > 0 {
			f.watch(w, r, n)
		}
		fmt.Fprint(w, `{"type":"ADDED","object":{"metadata":{"name":"half`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// says returns a watch that sends these lines and stays open for n more events.
func says(n int, lines ...string) fault {
	return func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		for _, l := range lines {
			fmt.Fprintln(w, l)
		}
		if n > 0 {
			f.watch(w, r, n)
		}
	}
}

// late returns a watch that sends nothing of one resource before until is closed.
func late(resource string, until <-chan struct{}) fault {
	return func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		if resourceIn(r) == resource {
			w.(http.Flusher).Flush()
			<-until
		}
		f.watch(w, r, 0)
	}
}

// status returns an answer with this code and reason, and a Status as its body.
func status(code int, reason string) fault {
	return func(_ *fakeAPI, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, statusBody(code, reason))
	}
}

func statusBody(code int, reason string) string {
	return fmt.Sprintf(
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"as the test wants it","reason":%q,"code":%d}`,
		reason, code)
}

// plainStatus returns an answer without a Status, as from a proxy.
func plainStatus(code int) fault {
	return func(_ *fakeAPI, w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }
}
