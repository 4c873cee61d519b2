package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// watchFor is how long a watch stays open. Then the API server ends it, and a new one
	// resumes.
	watchFor = 10 * time.Minute
	// maxSilence is the time without a line after which a connection is dead. A live watch
	// gets a bookmark about every minute (Kubernetes: storage/cacher,
	// defaultBookmarkFrequency).
	maxSilence = 150 * time.Second
	// maxRetryAfter bounds the server's Retry-After.
	maxRetryAfter = 10 * time.Second
	// lineBuffer is in bytes. Most lines of a watch fit.
	lineBuffer = 64 << 10
)

const (
	added     = watch.Added
	modified  = watch.Modified
	deleted   = watch.Deleted
	typeStart = watch.EventType("START") // in files: an object of the world at the start
)

// watcher watches one resource.
type watcher struct {
	api      *client
	recorder *Recorder
	resource schema.GroupVersionResource
	since    uint64 // revision at which the recording began
	position string // resourceVersion up to which everything is recorded
	cluster  bool   // the kind is cluster-scoped, by its last object

	connected chan struct{} // closed when the first watch is open or has failed finally
	failed    error         // why; set before connected is closed
}

func (w *watcher) awaitFirstWatch(ctx context.Context) error {
	select {
	case <-w.connected:
		return w.failed
	case <-ctx.Done():
		return fmt.Errorf("watch %s: %w", name(w.resource), context.Cause(ctx))
	}
}

// run watches until ctx is done. It starts a new watch after each one that ends.
func (w *watcher) run(ctx context.Context) {
	delay := newBackoff()
	for ctx.Err() == nil {
		before := w.position
		err := w.stream(ctx)
		if ctx.Err() != nil {
			return
		}
		if !w.isOpen() && isFinal(err) {
			w.failed = fmt.Errorf("watch %s: %w", name(w.resource), err)
			close(w.connected)
			return
		}
		if w.position != before {
			delay = newBackoff()
		}
		if isGone(err) || w.recorder.interrupted(w.resource) {
			err = w.beginAnew(ctx, err)
		}
		if errors.Is(err, io.EOF) { // the server's way to end a watch
			err = nil
			if w.position != before {
				continue
			}
		}
		w.recorder.setTrouble(w.resource, err)
		pause(ctx, max(delay.Step(), retryAfter(err)))
	}
}

// newBackoff returns the delays between attempts, from 5 ms to 1 s. They are short because
// time without a watch delays every Await.
func newBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 5 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 9, Cap: time.Second}
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// stream opens one watch and records its events. It returns why the watch ended: io.EOF if the
// server ended it between two lines.
func (w *watcher) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() {
		cancel(fmt.Errorf("no event and no bookmark for %s", maxSilence))
	})
	defer silence.Stop()

	body, err := w.api.watch(ctx, w.resource, w.position)
	if err != nil {
		return err
	}
	defer body.Close()
	w.open()

	lines := lineReader{r: bufio.NewReaderSize(body, lineBuffer)}
	for {
		line, err := lines.next()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		silence.Reset(maxSilence)
		if err := w.take(line); err != nil {
			return err
		}
	}
}

func (w *watcher) open() {
	w.recorder.setTrouble(w.resource, nil)
	if !w.isOpen() {
		close(w.connected)
	}
}

// isOpen reports whether a watch was ever open.
func (w *watcher) isOpen() bool {
	select {
	case <-w.connected:
		return true
	default:
		return false
	}
}

func (w *watcher) take(line []byte) error {
	now := timestamp()
	f, err := scanFrame(line)
	if err != nil {
		return err
	}
	kind := watch.EventType(f.Type)
	switch kind {
	case added, modified, deleted:
		o, err := w.object(bytes.Clone(f.Object), w.cluster)
		if err != nil {
			return err
		}
		w.cluster = o.Namespace == ""
		w.recorder.add(Event{Time: now, Type: kind, Resource: w.resource, Object: o, revision: revisionOf(o.ResourceVersion)})
		w.position = o.ResourceVersion
	case watch.Bookmark:
		m, err := scanMeta(f.Object, true)
		if err != nil {
			return err
		}
		w.position = m.ResourceVersion
	case watch.Error:
		var status metav1.Status
		if err := json.Unmarshal(f.Object, &status); err != nil {
			return fmt.Errorf("ERROR in the watch, without a status: %w", err)
		}
		return &apierrors.StatusError{ErrStatus: status}
	default:
		return fmt.Errorf("unknown type %q in the watch; it should be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR", f.Type)
	}
	return nil
}

// object returns the object with this JSON, rewritten if the recorder does so.
func (w *watcher) object(raw []byte, cluster bool) (*Object, error) {
	if w.recorder.rewrite != nil {
		var err error
		if raw, err = w.recorder.rewrite(w.resource, raw); err != nil {
			return nil, err
		}
	}
	return newObject(raw, cluster)
}

// lineReader reads lines of any length. It drops a line that is cut off, because the resumed
// watch sends it again.
type lineReader struct {
	r    *bufio.Reader
	long []byte
}

// next returns the next line, valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil && len(l.long) == 0:
			return part, nil
		case err == nil:
			l.long = append(l.long, part...)
			return l.long, nil
		case errors.Is(err, bufio.ErrBufferFull):
			l.long = append(l.long, part...)
		case errors.Is(err, io.EOF) && len(part)+len(l.long) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}
