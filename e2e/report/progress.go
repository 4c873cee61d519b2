package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Message is a line that a worker writes for the leading process. Exactly one field is set.
type Message struct {
	Outcome *Outcome `json:"outcome,omitempty"`
	Step    string   `json:"step,omitempty"`  // what the worker is doing
	Fatal   string   `json:"fatal,omitempty"` // why it can't go on; may have several lines
	Cluster *Cluster `json:"cluster,omitempty"`
}

// Progress is a file of messages that several processes append to.
type Progress struct {
	mu   sync.Mutex
	file *os.File
}

// OpenProgress opens, or creates, a progress file for appending.
func OpenProgress(path string) (*Progress, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("progress file: %w", err)
	}
	return &Progress{file: f}, nil
}

// Send appends a message, with one write so that lines of several processes don't mix.
func (p *Progress) Send(m Message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (p *Progress) Close() error { return p.file.Close() }

// Follower reads the messages of a progress file as they arrive.
type Follower struct {
	r       *bufio.Reader
	partial []byte
}

// Follow reads messages from r, a file that others append to.
func Follow(r io.Reader) *Follower { return &Follower{r: bufio.NewReader(r)} }

// Next returns the messages that have arrived since the last call.
func (f *Follower) Next() ([]Message, error) {
	var all []Message
	for {
		chunk, err := f.r.ReadBytes('\n')
		f.partial = append(f.partial, chunk...)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		var m Message
		if err := json.Unmarshal(f.partial, &m); err != nil {
			return all, fmt.Errorf("progress file: %w", err)
		}
		f.partial = nil
		all = append(all, m)
	}
}
