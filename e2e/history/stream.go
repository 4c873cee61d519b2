package history

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// defaultPartSize is in bytes before compression. So much is lost if a part can't be read.
const defaultPartSize = 64 << 20

// Stream is a recording of any length. It keeps only the present world in memory, and writes its events into a
// folder, as parts that LoadParts reads.
type Stream struct {
	recorder *Recorder
	parts    *parts
}

// Rewrite returns another form of an object's JSON, on one line and with the same metadata.uid and
// metadata.resourceVersion.
type Rewrite func(kind schema.GroupVersionResource, raw []byte) ([]byte, error)

// StreamOptions says how a Stream writes. The zero value writes objects as they are and keeps everything.
type StreamOptions struct {
	PartSize int     // bytes of events after which a new part begins, before compression; 0: 64 MiB
	Keep     int64   // bytes of all parts, compressed; beyond it the oldest are removed; 0: no limit
	Rewrite  Rewrite // of each object, before it is kept or written; nil: none
}

// RecordParts starts a recording as Record does, into a folder, which it makes if need be. Parts that an earlier
// Stream left there stay, and come before it.
func RecordParts(ctx context.Context, cfg *rest.Config, folder string, o StreamOptions,
	kinds ...schema.GroupVersionResource,
) (*Stream, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	p := &parts{folder: folder, keep: o.Keep}
	r := newRecorder(p)
	r.forgets, r.partSize, r.rewrite = true, o.PartSize, o.Rewrite
	if r.partSize <= 0 {
		r.partSize = defaultPartSize
	}
	if err := r.run(ctx, cfg, kinds); err != nil {
		return nil, err
	}
	return &Stream{r, p}, nil
}

// Failed returns a channel that is closed when nothing more can be written. Stop returns the reason.
func (s *Stream) Failed() <-chan struct{} { return s.recorder.journal.done }

// Stop ends the recording and returns the error of writing it, if any.
func (s *Stream) Stop() error { return s.recorder.Stop() }

// Present shows the present world to a function, which must be quick, and must not keep it: nothing is recorded
// meanwhile.
func (s *Stream) Present(look func(*World)) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	look(&s.recorder.world)
}

// Newest returns the newest revision that the watches of some kinds have delivered. While it stays the same, no
// object of them changes.
func (s *Stream) Newest(kinds ...schema.GroupVersionResource) (revision uint64) {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	for _, kind := range kinds {
		revision = max(revision, s.recorder.told[kind])
	}
	return revision
}

// Progress is how far a Stream is.
type Progress struct {
	Events, Objects int
	Gaps            []Gap
	Parts, Removed  int      // parts begun, and old ones removed
	Written         int64    // bytes of all whole parts
	Trouble         []string // watches that are broken now, and why
}

// Progress returns how far the recording is.
func (s *Stream) Progress() Progress {
	r := s.recorder
	r.mu.Lock()
	p := Progress{Events: r.events, Gaps: slices.Clone(r.gaps), Trouble: r.troubles()}
	for _, k := range r.world.objects {
		p.Objects += len(k.named)
	}
	r.mu.Unlock()
	s.parts.mu.Lock()
	defer s.parts.mu.Unlock()
	p.Parts, p.Removed, p.Written = s.parts.count, s.parts.removed, s.parts.written
	return p
}

// String returns the progress on one line.
func (p Progress) String() string {
	s := fmt.Sprintf("%d events, %d objects, %d gaps, %d parts", p.Events, p.Objects, len(p.Gaps), p.Parts)
	if p.Removed > 0 {
		s += fmt.Sprintf(", %d old ones removed", p.Removed)
	}
	if len(p.Trouble) > 0 {
		s += "; broken: " + strings.Join(p.Trouble, "; ")
	}
	return s
}
