package history

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// record starts a recording that ends with the test.
func record(t *testing.T, f *fakeAPI, kinds ...schema.GroupVersionResource) (*Recorder, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "recording.jsonl")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	r, err := Record(ctx, f.config(), file, kinds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r, file
}

// await waits until an object has the revision or a later one.
func await(t *testing.T, r *Recorder, resource schema.GroupVersionResource, name string, revision int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := r.Await(ctx, func(w *World) bool {
		o := w.Get(resource, "", name)
		return o != nil && revisionOf(o.ResourceVersion) >= uint64(revision)
	})
	if err != nil {
		t.Fatalf("%s at %d: %v", name, revision, err)
	}
}

// told returns one word per event of a history.
func told(h *History) []string {
	var words []string
	for _, e := range h.Events() {
		words = append(words, fmt.Sprintf("%s %s@%s", e.Type, e.Object.Name, e.Object.ResourceVersion))
	}
	return words
}

func TestRecordBeginsWithTheWorldThatIsThere(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	f.say("ADDED", "pods", "b")
	f.say("ADDED", "pods", "a")
	f.say("ADDED", "nodepools", "p")
	r, _ := record(t, f, pods, pools)
	h := r.History()
	g.Expect(h.Events()).To(BeEmpty())
	g.Expect(h.Start().List(pods)).To(HaveLen(2))
	g.Expect(h.Start().Get(pods, "", "a").Unstructured().GetKind()).To(Equal("Thing"), "lists leave the kind out")
	g.Expect(h.Start().List(pools)).To(HaveLen(1))

	before := r.History().Mark()
	await(t, r, pods, "c", f.say("ADDED", "pods", "c"))
	f.say("DELETED", "pods", "a")
	await(t, r, pods, "d", f.say("ADDED", "pods", "d"))
	g.Expect(told(r.History())).To(Equal([]string{"ADDED c@104", "DELETED a@105", "ADDED d@106"}))
	g.Expect(r.History().Since(before).Start().List(pods)).To(HaveLen(2))
	g.Expect(r.History().End().List(pods)).To(HaveLen(3))
	g.Expect(h.Events()).To(BeEmpty(), "a history doesn't change")
}

func TestResumesWithoutLossOrDuplicate(t *testing.T) {
	bookmark := `{"type":"BOOKMARK","object":{"kind":"Thing","apiVersion":"v1","metadata":{"resourceVersion":"100","creationTimestamp":null}}}`
	for name, faults := range map[string][]fault{
		"the server ends watches":         {ends(1), ends(2), ends(1), ends(3)},
		"connections break within a line": {breaks(1), breaks(2), breaks(0), breaks(1)},
		"a watch that ends at once":       {ends(1), says(0), says(0), says(0)},
		"too many requests":               {ends(1), status(429, "TooManyRequests"), plainStatus(429)},
		"server errors": {
			ends(1), status(500, "InternalError"), plainStatus(502), plainStatus(503),
			status(504, "Timeout"),
		},
		"ERROR within the stream, not 410": {
			ends(1),
			says(0, `{"type":"ERROR","object":`+statusBody(500, "InternalError")+`}`),
		},
		"bookmarks": {says(2, bookmark), says(3, bookmark)},
		"lines that are no JSON": {
			ends(1), says(0, "not JSON"), says(0, `{"type":"ADDED"}`),
			says(0, `{"type":"WHAT","object":{}}`),
		},
		"passing trouble with permissions": {ends(1), status(401, "Unauthorized"), status(403, "Forbidden")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			f := newFakeAPI(t)
			f.failWatches(faults...)
			r, _ := record(t, f, pods)
			var want []string
			for i := range 20 {
				revision := f.say("ADDED", "pods", fmt.Sprint("p", i))
				want = append(want, fmt.Sprintf("ADDED p%d@%d", i, revision))
				if i%3 == 0 { // some events come while no watch is open
					await(t, r, pods, fmt.Sprint("p", i), revision)
				}
			}
			await(t, r, pods, "p19", f.revision)
			g.Expect(told(r.History())).To(Equal(want))
			g.Expect(r.History().Gaps()).To(BeEmpty())
			g.Expect(f.watched).To(BeNumerically(">", len(faults)), "all faults were met")
		})
	}
}

func TestDropsWhatIsSentAgain(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	again := `{"type":"ADDED","object":{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u-a","resourceVersion":"101"}}}`
	f.failWatches(ends(1), says(1, again))
	r, _ := record(t, f, pods)
	f.say("ADDED", "pods", "a")
	await(t, r, pods, "b", f.say("ADDED", "pods", "b"))
	g.Expect(told(r.History())).To(Equal([]string{"ADDED a@101", "ADDED b@102"}))
}

func TestGapIsRecordedAndBridged(t *testing.T) {
	for name, gone := range map[string]fault{
		"HTTP 410":             status(410, "Expired"),
		"HTTP 410, Gone":       status(410, "Gone"),
		"HTTP 410 of a proxy":  plainStatus(410),
		"ERROR in the stream":  says(0, `{"type":"ERROR","object":`+statusBody(410, "Expired")+`}`),
		"ERROR without reason": says(0, `{"type":"ERROR","object":`+statusBody(410, "")+`}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			f := newFakeAPI(t)
			for _, p := range []string{"stays", "changes", "goes"} {
				f.say("ADDED", "pods", p)
			}
			// Much happens between the watches.
			f.failWatches(ends(1), func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
				f.say("MODIFIED", "pods", "changes")
				f.say("MODIFIED", "pods", "changes")
				f.say("DELETED", "pods", "goes")
				f.say("ADDED", "pods", "comes")
				f.compact()
				gone(f, w, r)
			})
			f.failLists() // the first list is good
			r, file := record(t, f, pods)
			await(t, r, pods, "first", f.say("ADDED", "pods", "first"))
			await(t, r, pods, "comes", 108)
			await(t, r, pods, "last", f.say("ADDED", "pods", "last"))

			h := r.History()
			g.Expect(told(h)).To(Equal([]string{
				"ADDED first@104", "DELETED goes@103", "MODIFIED changes@106", "ADDED comes@108", "ADDED last@110",
			}))
			g.Expect(h.Gaps()).To(HaveLen(1))
			g.Expect(h.Gaps()[0].Resource).To(Equal(pods))
			g.Expect(h.Gaps()[0].Reason).To(ContainSubstring("no longer knew the events after 104"))
			g.Expect(h.From(h.from+1).Gaps()).To(HaveLen(1), "a view that begins before it has the gap")
			g.Expect(h.From(h.from+2).Gaps()).To(BeEmpty(), "a view that begins after it hasn't")

			g.Expect(r.Stop()).To(Succeed())
			loaded := load(t, file)
			g.Expect(told(loaded)).To(Equal(told(h)))
			g.Expect(loaded.Gaps()).To(HaveLen(1))
			g.Expect(loaded.From(loaded.from + 2).Gaps()).To(BeEmpty())
		})
	}
}

// The recorder doesn't list them either: a cluster can have thousands.
func TestEventsFromBeforeAreLeftOut(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	f.say("ADDED", "events", "old")
	f.say("ADDED", "events", "repeated")
	limit := make(chan string, 1)
	f.failLists(func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		limit <- r.URL.Query().Get("limit")
		f.list(w, r)
	})
	f.failWatches(ends(1), func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		f.say("MODIFIED", "events", "repeated")
		f.say("ADDED", "events", "new")
		f.compact()
		status(410, "Expired")(f, w, r)
	})
	r, _ := record(t, f, events)
	g.Expect(limit).To(Receive(Equal("1")))
	await(t, r, events, "first", f.say("ADDED", "events", "first"))
	await(t, r, events, "repeated", 104)
	h := r.History()
	g.Expect(h.Start().List(events)).To(BeEmpty())
	g.Expect(told(h)).To(Equal([]string{"ADDED first@103", "ADDED new@105", "ADDED repeated@104"}),
		"what the list after a gap shows of before is left out too")
}

func TestDifferencesKnowANewObjectOfTheSameName(t *testing.T) {
	g := NewWithT(t)
	old, renewed := &Object{Name: "a", UID: "1", ResourceVersion: "5"}, &Object{Name: "a", UID: "2", ResourceVersion: "9"}
	events := differences([]*Object{old}, []*Object{renewed})
	g.Expect(events).To(HaveLen(2))
	g.Expect(events[0].Type).To(Equal(deleted))
	g.Expect(events[0].Object).To(BeIdenticalTo(old))
	g.Expect(events[1].Type).To(Equal(added))
	g.Expect(events[1].Object).To(BeIdenticalTo(renewed))
}

// A silent watch doesn't delay the others, and the events of all resources are in one order.
func TestManyResources(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, _ := record(t, f, pods, nodes, pools)
	var want []string
	for i := range 200 {
		resource := []string{"pods", "nodes"}[i%2]
		revision := f.say("ADDED", resource, fmt.Sprint("x", i))
		want = append(want, fmt.Sprintf("ADDED x%d@%d", i, revision))
	}
	await(t, r, pods, "x198", 0)
	await(t, r, nodes, "x199", 0)
	g.Expect(told(r.History())).To(Equal(want), "in the order in which it happened, whatever watch was faster")
}

func TestStop(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, file := record(t, f, pods)
	await(t, r, pods, "a", f.say("ADDED", "pods", "a"))
	g.Expect(r.Stop()).To(Succeed())
	g.Expect(r.Stop()).To(Succeed(), "twice is fine")
	f.say("ADDED", "pods", "b")
	g.Expect(told(r.History())).To(HaveLen(1))
	lines, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(slices.Collect(strings.Lines(string(lines)))).To(HaveLen(3), "header, event, end")
	taken := r.History().Taken()
	g.Expect(r.History().Taken()).To(Equal(taken), "it goes no further than to the stop")
}

// A complete history has no event of one watch without the earlier events of all others.
func TestACompleteHistoryLacksNothingOfItsTime(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	f.say("ADDED", "nodes", "n")
	f.say("ADDED", "nodes", "m")
	release := make(chan struct{})
	f.failWatches(late("nodes", release), late("nodes", release))
	r, _ := record(t, f, nodes, pods)
	untainted := f.say("MODIFIED", "nodes", "n")
	deleted := f.say("DELETED", "nodes", "m")
	bound := f.say("ADDED", "pods", "p")
	await(t, r, pods, "p", bound)
	g.Expect(told(r.History())).To(Equal([]string{fmt.Sprintf("ADDED p@%d", bound)}), "the nodes' watch is late")

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := r.Complete(ctx)
	g.Expect(err).To(MatchError(ContainSubstring("the watches have not yet delivered all events")))
	close(release)
	h, err := r.Complete(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	all := []string{
		fmt.Sprintf("MODIFIED n@%d", untainted), fmt.Sprintf("DELETED m@%d", deleted),
		fmt.Sprintf("ADDED p@%d", bound),
	}
	g.Expect(told(h)).To(Equal(all))
	g.Expect(told(r.History())).To(Equal(all), "in the order in which it happened")
	g.Expect(h.Mark().events).To(Equal(r.History().Mark().events))

	g.Expect(upTo(h.log, uint64(deleted))).To(Equal(h.Mark().events-1), "the pod came later")
	g.Expect(upTo(h.log, uint64(bound))).To(Equal(h.Mark().events))
}

// A spec calls Complete several times, which lists several resources.
func TestListsShareAConnection(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	f.say("ADDED", "pods", "a")
	// The end of this answer comes long after its content.
	lists := func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		f.list(w, r)
		fmt.Fprintln(w, strings.Repeat(" ", 1<<20))
	}
	f.failLists(lists, lists, lists, lists, lists, lists)
	var dialed atomic.Int32
	cfg := f.config()
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	r, err := Record(t.Context(), cfg, "", pods)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(r.Stop()).To(Succeed()) }()
	for range 5 {
		_, err := r.Complete(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(dialed.Load()).To(BeEquivalentTo(2), "one for the lists, one for the watch")
}
