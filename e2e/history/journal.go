package history

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// flushEvery bounds how much of a recording a crash can lose.
const flushEvery = 100 * time.Millisecond

// journal writes a recording to a file. Its own goroutine writes, so that a slow disk delays
// no event. After an error it writes nothing more.
type journal struct {
	file   io.WriteCloser // nil: nothing is written
	failed func(error)
	quit   chan struct{}
	done   chan struct{} // closed after the last flush

	written chan struct{} // has a value when something is pending

	mu      sync.Mutex
	pending []byte
	err     error
}

func newJournal(file io.WriteCloser, failed func(error)) *journal {
	j := &journal{
		file: file, failed: failed, quit: make(chan struct{}), done: make(chan struct{}),
		written: make(chan struct{}, 1),
	}
	if file == nil {
		close(j.done)
		return j
	}
	go j.flushing()
	return j
}

func (j *journal) header(start time.Time) {
	j.add(func(b []byte) []byte { return appendHeader(b, start) })
}
func (j *journal) event(e Event) { j.add(func(b []byte) []byte { return appendEvent(b, e) }) }
func (j *journal) gap(g Gap)     { j.add(func(b []byte) []byte { return appendGap(b, g) }) }

func (j *journal) add(line func([]byte) []byte) {
	if j.file == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	j.pending = line(j.pending)
	select {
	case j.written <- struct{}{}:
	default:
	}
}

func (j *journal) flushing() {
	defer close(j.done)
	var spare []byte
	for last := false; !last; {
		select {
		case <-j.written:
			select {
			case <-time.After(flushEvery):
			case <-j.quit:
				last = true
			}
		case <-j.quit:
			last = true
		}
		lines := j.swap(spare)
		if len(lines) > 0 {
			if _, err := j.file.Write(lines); err != nil {
				j.fail(err)
				return
			}
		}
		spare = lines[:0]
	}
}

// swap returns the pending lines and continues in the spare buffer.
func (j *journal) swap(spare []byte) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.pending
	j.pending = spare
	return lines
}

func (j *journal) fail(err error) {
	err = fmt.Errorf("the file of the recording ends early: %w", err)
	j.mu.Lock()
	j.err, j.pending = err, nil
	j.mu.Unlock()
	j.failed(err)
}

// close writes the pending lines and the END line.
func (j *journal) close(at time.Time) error {
	if j.file == nil {
		return nil
	}
	j.add(func(b []byte) []byte { return appendEnd(b, at) })
	close(j.quit)
	<-j.done
	j.mu.Lock()
	defer j.mu.Unlock()
	return errorsJoin(j.err, j.file.Close())
}

// errorsJoin joins two errors, and returns a single one unwrapped.
func errorsJoin(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	default:
		return errors.Join(first, second)
	}
}
