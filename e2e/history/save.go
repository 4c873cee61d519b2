package history

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Save writes the history compressed: the world at its start, its events and its gaps. Load
// reads it.
func Save(w io.Writer, h *History) error {
	z := gzip.NewWriter(w)
	out := bufio.NewWriter(z)
	write := func(b []byte) error {
		_, err := out.Write(b)
		return err
	}
	if err := writeLines(write, h); err != nil {
		return fmt.Errorf("save the history: %w", err)
	}
	if err := errorsJoin(out.Flush(), z.Close()); err != nil {
		return fmt.Errorf("save the history: %w", err)
	}
	return nil
}

func writeLines(write func([]byte) error, h *History) error {
	if err := writeStart(write, h.Start()); err != nil {
		return err
	}
	var b []byte
	// Gaps keep their place. Events keep the log's order: Load sorts them the same way.
	gaps, events := h.Gaps(), h.log[h.from:]
	for i := range len(events) + 1 {
		b = b[:0]
		for len(gaps) > 0 && gaps[0].at <= h.from+i {
			b, gaps = appendGap(b, gaps[0]), gaps[1:]
		}
		if i < len(events) {
			b = appendEvent(b, events[i])
		} else {
			b = appendEnd(b, h.taken)
		}
		if err := write(b); err != nil {
			return err
		}
	}
	return nil
}

// writeStart writes the first lines of a file: the world at its start.
func writeStart(write func([]byte) error, start *World) error {
	if err := write(appendHeader(nil, start.Time())); err != nil {
		return err
	}
	var b []byte
	for _, r := range start.Resources() {
		for _, o := range start.List(r) {
			b = appendEvent(b[:0], Event{Type: typeStart, Resource: r, Object: o})
			if err := write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// Compress turns the plain file of a stopped recording into file.gz, removes the plain one and
// returns the new name. If it fails, the plain file stays.
func Compress(file string) (string, error) {
	compressed := file + ".gz"
	if err := compress(file, compressed+".part"); err != nil {
		return "", errorsJoin(fmt.Errorf("compress %s: %w", file, err), removeIfThere(compressed+".part"))
	}
	if err := os.Rename(compressed+".part", compressed); err != nil {
		return "", fmt.Errorf("compress %s: %w", file, err)
	}
	return compressed, os.Remove(file)
}

func compress(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(out)
	_, err = io.Copy(z, in)
	return errors.Join(err, z.Close(), out.Close())
}

func removeIfThere(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
