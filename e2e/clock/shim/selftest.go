//go:build linux && (amd64 || arm64)

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/governor"
	"github.com/plumbline-e2e/plumbline/e2e/clock/ptrace"
	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// trial is a run of two programs that wait in all ways of Go programs.
type trial struct {
	speeds []float64     // one after another, see run
	wait   time.Duration // in the cluster's time
	load   bool          // keep all CPUs busy

	// slack is how late a wait may end on a busy machine, in real time. It is a third of the delay of a wait that isn't
	// ended, or less.
	slack time.Duration
}

func trials() []trial {
	return []trial{
		{[]float64{1}, 100 * time.Millisecond, false, time.Second}, // nothing is to be ended
		{[]float64{10}, 4 * time.Second, false, 1200 * time.Millisecond},
		{[]float64{60}, 20 * time.Second, true, 6 * time.Second},
		{[]float64{10, 60, 1}, 3 * time.Second, false, 300 * time.Millisecond},
	}
}

// selftest tests on this machine what clusters with a bent clock need.
func selftest() error {
	p, err := shm.New()
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var governing sync.WaitGroup
	governing.Go(func() { governor.Run(p, stop) })
	defer governing.Wait()
	defer close(stop)
	for _, t := range trials() {
		if err := t.run(p); err != nil {
			return fmt.Errorf("at speed %v: %w", t.speeds, err)
		}
	}
	return nil
}

func (t trial) run(p *shm.Page) error {
	p.Request(t.speeds[0], true)
	if t.load {
		done := make(chan struct{})
		defer close(done)
		for range runtime.NumCPU() {
			go func() {
				for busy := true; busy; {
					select {
					case <-done:
						busy = false
					default: // spins on purpose
					}
				}
			}()
		}
	}
	var subjects []*subject
	defer func() {
		for _, s := range subjects {
			s.end()
		}
	}()
	for range 2 {
		s, err := begin(p, t.wait)
		if err != nil {
			return err
		}
		subjects = append(subjects, s)
	}
	begun, due := p.Wall(), t.speeds[0] // the speed when the waits are due
	for i, speed := range t.speeds {
		if time.Duration(p.Wall()-begun) < t.wait { // else the sleep overshot on a busy machine
			due = speed
		}
		p.Request(speed, true)
		if i == len(t.speeds)-1 {
			break
		}
		// The last speed gets a quarter of the time. This is short even if that speed is low.
		shm.Sleep(time.Duration(float64(t.wait) / speed * 0.75 / float64(len(t.speeds)-1)))
		for _, s := range subjects {
			if err := s.checkClocks(p); err != nil {
				return err
			}
		}
	}
	for _, s := range subjects {
		if err := s.checkClocks(p); err != nil {
			return err
		}
		if err := s.checkWaits(t.wait, t.wait+time.Duration(float64(t.slack)*max(due, t.speeds[0]))); err != nil {
			return err
		}
	}
	return nil
}

type subject struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// begin starts a subject that waits this long in every way.
func begin(p *shm.Page, wait time.Duration) (*subject, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &subject{cmd: exec.Command(self, "subject", wait.String())} //nolint:noctx // it ends with its input
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	unbent, err := ptrace.Start(s.cmd, p, 0)
	if err = errors.Join(err, unbent); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *subject) end() {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

type answer struct {
	Wall  int64 // UnixNano
	Since int64 // ns since Began, by its monotonic clock
	Began int64 // UnixNano
	Took  map[string]time.Duration
}

func (s *subject) ask(question string) (a answer, err error) {
	if _, err := fmt.Fprintln(s.in, question); err != nil {
		return a, err
	}
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(line, &a)
}

// checkClocks checks that the subject's clocks agree with the page's.
func (s *subject) checkClocks(p *shm.Page) error {
	apart := time.Duration(1<<63 - 1)
	for range 20 {
		before := p.Wall()
		a, err := s.ask("time")
		after := p.Wall()
		if err != nil {
			return err
		}
		if a.Wall < before || a.Wall > after {
			return fmt.Errorf("a process asked for the time between %d and %d says %d", before, after, a.Wall)
		}
		apart = min(apart, time.Duration(a.Wall-a.Began-a.Since).Abs())
	}
	if apart > time.Millisecond {
		return fmt.Errorf("wall and monotonic time are %s apart", apart)
	}
	return nil
}

func (s *subject) checkWaits(least, most time.Duration) error {
	a, err := s.ask("waits")
	if err != nil {
		return err
	}
	for kind, took := range a.Took {
		if took < least || took > most {
			return fmt.Errorf("a wait of %s for a %s took %s", least, kind, took)
		}
	}
	if len(a.Took) != len(kinds()) {
		return fmt.Errorf("only %d of %d kinds of waits ended", len(a.Took), len(kinds()))
	}
	return nil
}

func kinds() map[string]func(time.Duration) {
	return map[string]func(time.Duration){
		"sleep": time.Sleep,
		"ticker": func(d time.Duration) {
			tick := time.NewTicker(d / 10)
			defer tick.Stop()
			for range 10 {
				<-tick.C
			}
		},
		"context": func(d time.Duration) {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			defer cancel()
			<-ctx.Done()
		},
		"socket": func(d time.Duration) {
			at := time.Now().Add(d)
			conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err == nil {
				_ = conn.SetReadDeadline(at)
				_, err = conn.Read(make([]byte, 1))
				_ = conn.Close()
			}
			fatal(err)
		},
		"file": func(d time.Duration) {
			at := time.Now().Add(d)
			r, w, err := os.Pipe()
			if err == nil {
				_ = r.SetReadDeadline(at)
				_, err = r.Read(make([]byte, 1))
				_, _ = r.Close(), w.Close()
			}
			fatal(err)
		},
	}
}

// fatal ends the subject unless a wait reached its deadline.
func fatal(err error) {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// consistentTime returns a time whose wall and monotonic clock were read together. A busy
// machine may interrupt the process between the two reads, and all later times are compared
// with this one. Most times are consistent, so it returns the median of many.
func consistentTime() time.Time {
	times := make([]time.Time, 21)
	for i := range times {
		times[i] = time.Now()
	}
	first := times[0]
	ahead := func(t time.Time) time.Duration { return time.Duration(t.UnixNano()-first.UnixNano()) - t.Sub(first) }
	slices.SortFunc(times, func(a, b time.Time) int { return cmp.Compare(ahead(a), ahead(b)) })
	return times[len(times)/2]
}

// runSubject is the subject's main function.
func runSubject(wait string) error {
	d, err := time.ParseDuration(wait)
	if err != nil {
		return err
	}
	began := consistentTime()
	var mu sync.Mutex
	took := map[string]time.Duration{}
	var all sync.WaitGroup
	for kind, f := range kinds() {
		all.Go(func() {
			begin := time.Now()
			f(d)
			mu.Lock()
			defer mu.Unlock()
			took[kind] = time.Since(begin)
		})
	}
	questions := bufio.NewScanner(os.Stdin)
	for questions.Scan() {
		if questions.Text() == "waits" {
			all.Wait()
		}
		now := time.Now()
		mu.Lock()
		err := json.NewEncoder(os.Stdout).Encode(answer{now.UnixNano(), int64(now.Sub(began)), began.UnixNano(), took})
		mu.Unlock()
		if err != nil {
			return err
		}
	}
	return questions.Err()
}
