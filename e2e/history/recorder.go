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

// Recorder records the events of some resources. Several goroutines may use it.
type Recorder struct {
	journal  *journal
	forgets  bool    // keeps only the present world: see Stream
	partSize int     // in bytes, after which a new part begins; 0: never
	rewrite  Rewrite // nil: objects stay as they are
	kinds    []schema.GroupVersionResource
	cancel   context.CancelFunc
	watches  []*watcher
	running  sync.WaitGroup // of the watches
	stop     func() error   // does the work of Stop, once
	stopped  chan struct{}  // closed when nothing more will be recorded

	mu       sync.Mutex
	received []Event // in the order in which they came
	log      []Event // received, in the order in which they happened; histories share it: append only, or copy
	gaps     []Gap
	from     int
	events   int                                    // how many were recorded since the start
	told     map[schema.GroupVersionResource]uint64 // the newest revision from each watch

	began   time.Time
	ended   time.Time // zero until Stop
	world   World
	changed chan struct{}                         // closed at the next event; nil while nobody waits
	trouble map[schema.GroupVersionResource]error // why watches are broken now
	absence *interruption                         // nil before the first Interrupt
	closing bool                                  // see ExpectClosing
}

// Record starts a recording of the given kinds. It returns once each kind is listed and
// watched. The history starts with the listed objects, without Events (v1). The recording ends
// with Stop or ctx.
//
// Record also writes everything to file within 100 ms, as lines of JSON that Load reads. The
// file must not exist yet. If file is empty, it writes none.
//
// It fails if a kind can't be listed or watched: at once for an unknown kind or missing
// permissions, and when ctx is done for an API server that doesn't answer.
func Record(ctx context.Context, cfg *rest.Config, file string,
	kinds ...schema.GroupVersionResource,
) (*Recorder, error) {
	if file == "" {
		return recordTo(ctx, cfg, nil, kinds)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return recordTo(ctx, cfg, f, kinds)
}

// recordTo records into an open file, or none if file is nil. It always closes the file.
func recordTo(ctx context.Context, cfg *rest.Config, file io.WriteCloser,
	kinds []schema.GroupVersionResource,
) (*Recorder, error) {
	var to sink
	if file != nil {
		to = oneFile{file}
	}
	r := newRecorder(to)
	if err := r.run(ctx, cfg, kinds); err != nil {
		return nil, err
	}
	return r, nil
}

func newRecorder(to sink) *Recorder {
	r := &Recorder{
		stopped: make(chan struct{}),
		told:    map[schema.GroupVersionResource]uint64{},
		trouble: map[schema.GroupVersionResource]error{},
	}
	r.stop = sync.OnceValue(r.end)
	r.journal = newJournal(to, r.journalFailed)
	return r
}

// run starts the recording. After an error it is stopped.
func (r *Recorder) run(ctx context.Context, cfg *rest.Config, kinds []schema.GroupVersionResource) error {
	r.kinds = kinds
	ctx, r.cancel = context.WithCancel(ctx)
	api, err := newClient(cfg)
	if err == nil {
		err = r.start(ctx, api, kinds)
	}
	if err != nil {
		return fmt.Errorf("record: %w", errorsJoin(err, r.Stop()))
	}
	return nil
}

// start lists every kind, makes the world at the start, and opens the watches.
func (r *Recorder) start(ctx context.Context, api *client, kinds []schema.GroupVersionResource) error {
	r.watches = make([]*watcher, len(kinds))
	watches := r.watches
	lists := make([]list, len(kinds))
	for i, kind := range kinds {
		watches[i] = &watcher{api: api, recorder: r, resource: kind, connected: make(chan struct{})}
	}
	err := forEach(len(kinds), func(i int) (err error) {
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
	return forEach(len(watches), func(i int) error { return watches[i].awaitFirstWatch(ctx) })
}

func (r *Recorder) begin(kinds []schema.GroupVersionResource, lists []list) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := timestamp()
	r.began, r.world.time = now, now
	for i, l := range lists {
		for _, o := range l.objects {
			r.apply(Event{Time: now, Type: typeStart, Resource: kinds[i], Object: o})
		}
	}
	r.journal.begin(now, r.world.clone())
	r.arrange()
	r.from = len(r.log)
}

// History returns the recording so far. A watch may lack its last moments: see Complete. The
// call is cheap.
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

// Stop ends the watches and closes the file. It returns the error of writing the file, if any;
// the history in memory is still whole and has a Gap for it. Await returns ErrStopped. History
// still works. Further calls return the same error.
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

func (r *Recorder) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.world.Get(e.Resource, e.Object.Namespace, e.Object.Name); known != nil &&
		known.UID == e.Object.UID && known.ResourceVersion == e.Object.ResourceVersion {
		return // already recorded
	}
	r.record(e)
}

// reconcile records what states show that followed one another, in one step: no mark can come between them. Unless
// they are complete, it records a gap before.
func (r *Recorder) reconcile(resource schema.GroupVersionResource, states []list, complete bool, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := timestamp()
	if !complete {
		g := Gap{Time: now, Resource: resource, Reason: reason}
		if r.absence.covers(resource) {
			g.Reason, g.Asked = r.absence.why, true
			defer r.absence.isOver(resource)
		}
		r.addGap(g)
	}
	for _, l := range states {
		for _, e := range differences(r.world.List(resource), l.objects) {
			e.Time, e.Resource, e.revision = now, resource, revisionOf(l.resourceVersion)
			r.record(e)
		}
	}
}

// record adds an event to the log, the world and the file. The caller holds mu.
func (r *Recorder) record(e Event) {
	r.events++
	r.journal.event(e)
	r.apply(e)
	if r.partSize > 0 && r.journal.isFull(r.partSize) {
		r.journal.begin(timestamp(), r.world.clone())
	}
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

func (r *Recorder) apply(e Event) {
	if e.Type == typeStart {
		e.Type = watch.Added
	}
	if !r.forgets {
		r.received = append(r.received, e)
	}
	r.world.Apply(e)
	r.told[e.Resource] = max(r.told[e.Resource], e.revision, revisionOf(e.Object.ResourceVersion))
}

// arrange inserts new events of received into log, each at its place. The caller holds mu.
func (r *Recorder) arrange() {
	log, gaps, copied := r.log, r.gaps, false
	for _, e := range r.received[len(log):] {
		i := len(log)
		to := placeOf(log, e, i)
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

// addGap records a gap at the present moment. The caller holds mu.
func (r *Recorder) addGap(g Gap) {
	g.at = len(r.received)
	r.gaps = append(r.gaps, g)
	r.journal.gap(g)
}

// journalFailed records a gap for an error of the file. Nothing more is written to it.
func (r *Recorder) journalFailed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addGap(Gap{Time: timestamp(), Reason: err.Error()})
}

// setTrouble records why a watch is broken; nil if it works.
func (r *Recorder) setTrouble(resource schema.GroupVersionResource, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.trouble, resource)
		return
	}
	r.trouble[resource] = err
}

// timestamp returns the time without its monotonic part, as files hold it.
func timestamp() time.Time { return time.Now().UTC().Round(0) }
