package history

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Recorder records what the API server says of some resources. It is safe for
// use by several goroutines.
type Recorder struct {
	journal *journal
	kinds   []schema.GroupVersionResource
	cancel  context.CancelFunc
	watches []*watcher
	running sync.WaitGroup // of the watches
	stop    func() error   // does the work of Stop, once
	stopped chan struct{}  // closed when nothing more will be recorded

	mu       sync.Mutex
	received []Event // as they came
	log      []Event // the same in the order in which they happened; histories share it, so that what is there stays
	gaps     []Gap
	from     int
	told     map[schema.GroupVersionResource]uint64 // the newest revision that each watch has told of

	began   time.Time
	ended   time.Time // zero until Stop
	world   World
	changed chan struct{}                         // closed at the next event; nil while nobody waits
	trouble map[schema.GroupVersionResource]error // watches that are broken at the moment
	absence *interruption                         // nil unless the API server is away on purpose
}

// Record starts a recording of the given kinds and returns when each has been
// listed and is watched; what is there then is the world that the history
// starts with, except Events (v1), which tell of what was before. It goes on until
// Stop, or until ctx is done.
//
// Everything is also written to file as it comes (within 100 ms), as lines of
// JSON that Load reads; no file is written if file is empty. The file must not
// exist yet.
//
// It fails if a kind can't be listed or watched: an unknown kind and missing
// permissions at once, an API server that doesn't answer when ctx is done.
func Record(ctx context.Context, cfg *rest.Config, file string, kinds ...schema.GroupVersionResource) (*Recorder, error) {
	if file == "" {
		return recordTo(ctx, cfg, nil, kinds)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return recordTo(ctx, cfg, f, kinds)
}

// recordTo is Record into an open file, or none. It closes it in any case.
func recordTo(ctx context.Context, cfg *rest.Config, file io.WriteCloser, kinds []schema.GroupVersionResource) (*Recorder, error) {
	r := &Recorder{
		kinds:   kinds,
		stopped: make(chan struct{}),
		told:    map[schema.GroupVersionResource]uint64{},
		trouble: map[schema.GroupVersionResource]error{},
	}
	r.stop = sync.OnceValue(r.end)
	r.journal = newJournal(file, r.journalFailed)
	ctx, r.cancel = context.WithCancel(ctx)
	api, err := newClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("record: %w", errorsJoin(err, r.Stop()))
	}
	if err := r.start(ctx, api, kinds); err != nil {
		return nil, fmt.Errorf("record: %w", errorsJoin(err, r.Stop()))
	}
	return r, nil
}

// start lists every kind, makes the world from that, and opens the watches.
func (r *Recorder) start(ctx context.Context, api *client, kinds []schema.GroupVersionResource) error {
	r.watches = make([]*watcher, len(kinds))
	watches := r.watches
	lists := make([]list, len(kinds))
	for i, kind := range kinds {
		watches[i] = &watcher{api: api, recorder: r, resource: kind, connected: make(chan struct{})}
	}
	err := each(len(kinds), func(i int) (err error) {
		lists[i], err = watches[i].list(ctx)
		return err
	})
	if err != nil {
		return err
	}
	r.begin(kinds, lists)
	for i, w := range watches {
		w.position = lists[i].resourceVersion
		r.running.Go(func() { w.run(ctx) })
	}
	return each(len(watches), func(i int) error { return watches[i].opened(ctx) })
}

// begin makes the world that the history starts with.
func (r *Recorder) begin(kinds []schema.GroupVersionResource, lists []list) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := timestamp()
	r.began, r.world.time = now, now
	r.journal.header(now)
	for i, l := range lists {
		for _, o := range l.objects {
			e := Event{Time: now, Type: typeStart, Resource: kinds[i], Object: o}
			r.journal.event(e)
			r.apply(e)
		}
	}
	r.arrange()
	r.from = len(r.log)
}

// History is everything recorded so far, of which each watch may lack the last
// moments: see Complete. It costs next to nothing.
func (r *Recorder) History() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrange()
	taken := timestamp()
	if !r.ended.IsZero() {
		taken = r.ended
	}
	return view(r.log, r.gaps, r.from, r.began, taken)
}

// Stop ends the watches and closes the file. It returns what went wrong with
// the file while it was written (the history in memory has everything all the
// same, and a Gap that says so). Await gives up; History goes on to answer.
// Stop may be called again and returns the same.
func (r *Recorder) Stop() error { return r.stop() }

func (r *Recorder) end() error {
	r.cancel()
	r.running.Wait()
	r.mu.Lock()
	r.ended = timestamp()
	r.mu.Unlock()
	err := r.journal.close(r.ended)
	close(r.stopped)
	return err
}

// add records an event that a watch delivered.
func (r *Recorder) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.world.Get(e.Resource, e.Object.Namespace, e.Object.Name); known != nil &&
		known.UID == e.Object.UID && known.ResourceVersion == e.Object.ResourceVersion {
		return // a state that was recorded before says nothing new
	}
	r.record(e)
}

// reconcile records a gap, and what an object list shows to have happened in
// it, in one step: no mark lies between the two.
func (r *Recorder) reconcile(resource schema.GroupVersionResource, l list, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := timestamp()
	g := Gap{Time: now, Resource: resource, Reason: reason}
	if r.absence.concerns(resource) {
		g.Reason, g.Asked = r.absence.why, true
		defer r.absence.isOver(resource)
	}
	r.addGap(g)
	for _, e := range differences(r.world.List(resource), l.objects) {
		e.Time, e.Resource, e.revision = now, resource, revisionOf(l.resourceVersion)
		r.record(e)
	}
}

// record takes an event into log, world and file. The caller holds mu.
func (r *Recorder) record(e Event) {
	r.journal.event(e)
	r.apply(e)
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

func (r *Recorder) apply(e Event) {
	if e.Type == typeStart {
		e.Type = watch.Added
	}
	r.received = append(r.received, e)
	r.world.Apply(e)
	r.told[e.Resource] = max(r.told[e.Resource], e.revision, revisionOf(e.Object.ResourceVersion))
}

// arrange takes what was received since the last time into the log, where it belongs.
// The caller holds mu.
func (r *Recorder) arrange() {
	log, gaps, copied := r.log, r.gaps, false
	for _, e := range r.received[len(log):] {
		i := len(log)
		to := place(log, e, i)
		if to < i && !copied {
			log, gaps, copied = slices.Clone(log), slices.Clone(gaps), true
		}
		log = slices.Insert(log, to, e)
		for k := range gaps {
			if at := gaps[k].at; at > to && at <= i {
				gaps[k].at++
			}
		}
	}
	r.log, r.gaps = log, gaps
}

// addGap marks the present moment as one at which something may be missing.
// The caller holds mu.
func (r *Recorder) addGap(g Gap) {
	g.at = len(r.received)
	r.gaps = append(r.gaps, g)
	r.journal.gap(g)
}

// journalFailed is told the error after which nothing more is written.
func (r *Recorder) journalFailed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addGap(Gap{Time: timestamp(), Reason: err.Error()})
}

// setTrouble notes why a watch is broken at the moment; nil when it works.
func (r *Recorder) setTrouble(resource schema.GroupVersionResource, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.trouble, resource)
		return
	}
	r.trouble[resource] = err
}

// timestamp is the time by the wall clock alone, as files have it.
func timestamp() time.Time { return time.Now().UTC().Round(0) }
