package history

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Load reads the output of Save, Compress or a Recorder, compressed or not. If a crash or a
// full disk cut the file short, the history has a Gap at its end. Any other bad line is an
// error with the line's number.
func Load(r io.Reader) (*History, error) {
	in, err := plain(r)
	if err != nil {
		return nil, fmt.Errorf("load a history: %w", err)
	}
	l := loader{}
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the latter where a compressed file is cut off
			return l.finish(n, len(text) > 0 || !errors.Is(err, io.EOF))
		case err != nil:
			return nil, fmt.Errorf("load a history: line %d: %w", n, err)
		}
		if err := l.take(text, n == 1); err != nil {
			return nil, fmt.Errorf("load a history: line %d: %w", n, err)
		}
	}
}

// LoadFile reads a recording's file, as Load does, or its folder, as LoadParts does. Errors name the file.
func LoadFile(file string) (*History, error) {
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return LoadParts(file)
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("the recording: %w", err)
	}
	defer in.Close()
	h, err := Load(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return h, nil
}

// plain returns a reader of the uncompressed bytes.
func plain(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, lineBuffer)
	if magic, err := in.Peek(2); err != nil || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, nil //nolint:nilerr // Load reports a file of less than two bytes
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, lineBuffer), nil
}

type loader struct {
	log   []Event
	gaps  []Gap
	from  int
	start time.Time
	older bool
	ended bool
	end   time.Time
}

func (l *loader) take(text []byte, first bool) error {
	var in line
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	switch {
	case first:
		return l.header(in)
	case l.ended:
		return errors.New("something follows the line of type END, which should be the last")
	}
	switch in.Type {
	case typeEnd:
		l.ended, l.end = true, in.At
		return nil
	case typeGap:
		return l.gap(in)
	case string(typeStart), string(added), string(modified), string(deleted):
		return l.event(in)
	default:
		return fmt.Errorf("type %q; it should be START, ADDED, MODIFIED, DELETED, GAP or END", in.Type)
	}
}

func (l *loader) header(in line) error {
	if in.History < 1 || in.History > formatVersion || in.Start == nil {
		return fmt.Errorf(`no history; it should begin with {"history":%d,"start":...}`, formatVersion)
	}
	l.start, l.older = *in.Start, in.History < formatVersion
	return nil
}

func (l *loader) event(in line) error {
	resource, err := parseResource(in.Resource)
	if err != nil {
		return err
	}
	o, err := newObject(bytes.Clone(in.Object), false)
	if err != nil {
		return err
	}
	e := Event{Time: in.At, Type: watch.EventType(in.Type), Resource: resource, Object: o, revision: in.Revision}
	if e.Type == typeStart {
		if l.from < len(l.log) {
			return errors.New("type START after an event; all of them should come first")
		}
		e.Time, e.Type = l.start, added
		l.from++
	}
	l.log = append(l.log, e)
	return nil
}

func (l *loader) gap(in line) error {
	g := Gap{Time: in.At, Reason: in.Reason, Asked: in.Asked, at: len(l.log)}
	if in.Resource != "" {
		var err error
		if g.Resource, err = parseResource(in.Resource); err != nil {
			return err
		}
	}
	l.gaps = append(l.gaps, g)
	return nil
}

// finish returns the history. n is the number of the line after the last whole one. cut is
// true if that line has a beginning.
func (l *loader) finish(n int, cut bool) (*History, error) {
	if n == 1 {
		return nil, fmt.Errorf(`load a history: it has no whole line; it should begin with {"history":%d,"start":...}`,
			formatVersion)
	}
	if !l.ended || cut {
		reason := "the file is incomplete: it has no END line"
		if cut {
			reason = fmt.Sprintf("line %d, the last, is cut off", n)
		}
		l.gaps = append(l.gaps, Gap{
			Time: l.lastTime(), Resource: schema.GroupVersionResource{}, Reason: reason,
			at: len(l.log),
		})
	}
	h := view(l.log, l.gaps, l.from, l.start, later(l.end, l.lastTime()))
	h.older = l.older
	return h, nil
}

func (l *loader) lastTime() time.Time {
	if len(l.log) == 0 {
		return l.start
	}
	return l.log[len(l.log)-1].Time
}
