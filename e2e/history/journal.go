package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// flushEvery bounds how much of a recording a crash can lose.
	flushEvery = 100 * time.Millisecond
	// spareBuffer is the largest buffer, in bytes, that is kept for the next lines.
	spareBuffer = 1 << 20
)

// sink is where a journal writes.
type sink interface {
	io.WriteCloser
	// Flush makes what was written readable for others.
	Flush() error
	// turn ends the present file, if there is one, and begins another if the sink has several.
	turn(at time.Time) error
}

// oneFile is a sink of a single file.
type oneFile struct{ io.WriteCloser }

func (oneFile) Flush() error         { return nil }
func (oneFile) turn(time.Time) error { return nil }

// journal writes a recording to a file. Its own goroutine writes, so that a slow disk delays
// no event. After an error it writes nothing more.
type journal struct {
	to     sink // nil: nothing is written
	failed func(error)
	quit   chan struct{}
	done   chan struct{} // closed after the last flush, or an error

	written chan struct{} // has a value when something is pending

	mu      sync.Mutex
	pending lines
	begun   bool
	size    int // in bytes, of the lines since the last begin
	start   int // in bytes, of the world of the last begin
	err     error
}

// lines is what is to be written: the first lines, and those after a start if there is one.
type lines struct {
	before, after []byte
	start         *World // the world with which a file begins; nil: none
	at            time.Time
}

func newJournal(to sink, failed func(error)) *journal {
	j := &journal{
		to: to, failed: failed, quit: make(chan struct{}), done: make(chan struct{}),
		written: make(chan struct{}, 1),
	}
	if to == nil {
		close(j.done)
		return j
	}
	go j.flushing()
	return j
}

// begin makes a file begin with this world, which the journal then owns. The file before it
// ends at the same moment.
func (j *journal) begin(at time.Time, w *World) {
	if j.to == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	if j.begun {
		j.pending.before = appendEnd(j.pending.before, at)
	}
	w.time = at
	j.pending.start, j.pending.at, j.begun = w, at, true
	j.size, j.start = 0, w.size()
	j.wake()
}

// isFull reports whether the lines since the last begin have so many bytes, and as many as its world, so that
// starts are half of what is written at most; and whether another file can begin: not while the last begin is still
// to be written, so that the file becomes longer instead.
func (j *journal) isFull(size int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size >= max(size, j.start) && j.pending.start == nil
}

func (j *journal) event(e Event) { j.add(func(b []byte) []byte { return appendEvent(b, e) }) }
func (j *journal) gap(g Gap)     { j.add(func(b []byte) []byte { return appendGap(b, g) }) }

func (j *journal) add(line func([]byte) []byte) {
	if j.to == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	end := &j.pending.before
	if j.pending.start != nil {
		end = &j.pending.after
	}
	before := len(*end)
	*end = line(*end)
	j.size += len(*end) - before
	j.wake()
}

// wake tells the writing goroutine that something is pending.
func (j *journal) wake() {
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
		l := j.swap(spare)
		if err := l.writeTo(j.to); err != nil {
			j.fail(err)
			return
		}
		spare = nil
		if cap(l.before) <= spareBuffer {
			spare = l.before[:0]
		}
	}
}

func (l *lines) writeTo(to sink) error {
	if len(l.before) > 0 {
		if _, err := to.Write(l.before); err != nil {
			return err
		}
	}
	if l.start != nil {
		if err := l.begin(to); err != nil {
			return err
		}
	}
	if len(l.after) > 0 {
		if _, err := to.Write(l.after); err != nil {
			return err
		}
	}
	return to.Flush()
}

func (l *lines) begin(to sink) error {
	if err := to.turn(l.at); err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	err := writeStart(func(b []byte) error {
		_, err := out.Write(b)
		return err
	}, l.start)
	return errorsJoin(err, out.Flush())
}

// swap returns the pending lines and continues in the spare buffer.
func (j *journal) swap(spare []byte) lines {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.pending
	j.pending = lines{before: spare}
	return l
}

func (j *journal) fail(err error) {
	err = fmt.Errorf("the file of the recording ends early: %w", err)
	j.mu.Lock()
	j.err, j.pending = err, lines{}
	j.mu.Unlock()
	j.failed(err)
}

// close writes the pending lines and the END line.
func (j *journal) close(at time.Time) error {
	if j.to == nil {
		return nil
	}
	j.add(func(b []byte) []byte {
		if !j.begun {
			return b // it failed before it began
		}
		return appendEnd(b, at)
	})
	close(j.quit)
	<-j.done
	j.mu.Lock()
	defer j.mu.Unlock()
	return errorsJoin(j.err, j.to.Close())
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
