package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// server runs trials in one process with one cluster: see e2e.ServeEnvironment. The process starts with the first
// trial, and again after one that ended it.
type server struct {
	binary string
	folder string
	trial  trial // its variables, for all that is the same in all trials
	// recording shows the provider's instance types; empty: there is none.
	recording string

	process *exec.Cmd
	ended   chan struct{} // closed at the process's end
	trials  *json.Encoder
	input   io.Closer
	answers *json.Decoder
}

// try runs a trial. An error says that the process could not, and is gone.
func (s *server) try(ctx context.Context, t e2e.Trial) (e2e.Answer, error) {
	var a e2e.Answer
	if s.process == nil {
		if err := s.start(ctx); err != nil {
			return a, err
		}
	}
	err := s.trials.Encode(t)
	if err == nil {
		err = s.answers.Decode(&a)
	}
	if err != nil {
		s.end()
		return a, fmt.Errorf("the process that runs specs ended (%w); see %s", err, filepath.Join(s.folder, trialLog))
	}
	return a, nil
}

func (s *server) start(ctx context.Context) error {
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.folder, trialLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	answers, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.CommandContext(ctx, s.binary, e2e.ServeArguments("TestConformance")...)
	cmd.Env = e2e.ServeEnvironment(s.trial.environ(os.Environ(), s.folder), s.folder, s.recording)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // only we pass Ctrl-C on, once
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 2 * time.Minute
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.process, s.input, s.trials, s.answers = cmd, input, json.NewEncoder(input), json.NewDecoder(answers)
	s.ended = make(chan struct{})
	go func() {
		defer answers.Close()
		defer close(s.ended)
		_ = cmd.Wait() // what it has to say is in its log
	}()
	return nil
}

// end ends the process and its cluster, if there is one.
func (s *server) end() {
	if s.process == nil {
		return
	}
	_ = s.input.Close()
	<-s.ended
	s.process = nil
}
