package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// keeperFolder is the folder of the cache's keeper. The keeper is a process that owns the
// cluster of `up`: it plays the host node and supervises the cluster until `down`. The folder
// holds its state, and a lock that it holds while it lives.
type keeperFolder string

func (k keeperFolder) lock() string     { return filepath.Join(string(k), "lock") }
func (k keeperFolder) state() string    { return filepath.Join(string(k), "state.json") }
func (k keeperFolder) progress() string { return filepath.Join(string(k), "progress.jsonl") }
func (k keeperFolder) log() string      { return filepath.Join(string(k), "keeper.log") }
func (k keeperFolder) logs() string     { return filepath.Join(string(k), "logs") }

// state is the content of a keeper's state.json.
type state struct {
	PID        int    `json:"pid"`
	Provider   string `json:"provider"`
	Kubernetes string `json:"kubernetes"`
	Kubeconfig string `json:"kubeconfig"`
	Logs       string `json:"logs"`
	Namespace  string `json:"namespace"`
	Deployment string `json:"deployment"`
}

func findKeeper() (keeperFolder, error) {
	cache, err := build.Open(nil)
	if err != nil {
		return "", err
	}
	return keeperFolder(filepath.Join(cache.Dir, "up")), nil
}

// running returns the state of a living keeper, or false if there is none.
func (k keeperFolder) running() (state, bool, error) {
	lock, err := filelock.Try(k.lock())
	if err == nil {
		lock.Release()
		return state{}, false, nil
	}
	if !errors.Is(err, filelock.ErrHeld) {
		return state{}, false, err
	}
	var s state
	data, err := os.ReadFile(k.state())
	if errors.Is(err, os.ErrNotExist) {
		return s, true, nil // it is still starting
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, true, err
}

// selectedForUp reads the environment's selection. The cluster uses the machine's clock unless
// SPEED is set.
func selectedForUp() (e2e.Config, *providers.Adapter, error) {
	var c e2e.Config
	var a *providers.Adapter
	var err error
	if providerName() == noProvider {
		c, err = e2e.FromEnv()
	} else {
		c, a, err = selected()
	}
	if os.Getenv("SPEED") == "" {
		c.Speed = clock.Speed{Limit: 1}
	}
	return c, a, err
}

// noProvider is the value of PROVIDER for a cluster with no provider and no KWOK.
const noProvider = "none"

func up(ctx context.Context, _ []string) error {
	c, a, err := selectedForUp()
	if err != nil {
		return err
	}
	folder, err := findKeeper()
	if err != nil {
		return err
	}
	if s, alive, err := folder.running(); err != nil || alive {
		if err == nil {
			s.print("is up already; `make down` ends it")
		}
		return err
	}
	if _, err := c.Reap(ctx); err != nil {
		return err
	}
	if _, err := e2e.Prepare(ctx, c, a, step); err != nil {
		return err
	}
	if err := os.RemoveAll(string(folder)); err != nil {
		return err
	}
	keeper, err := folder.spawn()
	if err != nil {
		return err
	}
	return folder.await(ctx, keeper)
}

// spawn starts a keeper in its own session, so that it outlives the terminal.
func (k keeperFolder) spawn() (*exec.Cmd, error) {
	if err := os.MkdirAll(string(k), 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(k.log())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if err := os.WriteFile(k.progress(), nil, 0o600); err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "keep") //nolint:noctx // it must outlive this command
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

// await shows a keeper's progress until its cluster is up.
func (k keeperFolder) await(ctx context.Context, keeper *exec.Cmd) error {
	messages, err := os.Open(k.progress())
	if err != nil {
		return err
	}
	defer messages.Close()
	ended := make(chan error, 1)
	go func() { ended <- keeper.Wait() }()
	follower := report.Follow(messages)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var exit error
		gone := false
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), keeper.Process.Signal(syscall.SIGTERM), <-ended)
		case exit = <-ended:
			gone = true
		case <-tick.C:
		}
		news, err := follower.Next()
		if err != nil {
			return err
		}
		for _, m := range news {
			if m.Fatal != "" {
				return errors.New(m.Fatal)
			}
			step(m.Step)
		}
		if gone {
			return fmt.Errorf("the keeper of the cluster ended (%w); see %s", exit, k.log())
		}
		if s, _, err := k.running(); err == nil && s.PID != 0 {
			s.print("is up; `make down` ends it")
			return nil
		}
	}
}

func (s state) print(what string) {
	if s.PID == 0 {
		fmt.Println("a cluster is starting already; `make down` ends it")
		return
	}
	with := "no provider"
	if s.Provider != "" {
		with = "the provider " + s.Provider
	}
	fmt.Printf("a cluster with Kubernetes %s and %s %s\n\n", s.Kubernetes, with, what)
	fmt.Printf("  export KUBECONFIG=%s\n", s.Kubeconfig)
	if s.Provider != "" {
		fmt.Printf("  kubectl logs -n %s deploy/%s\n", s.Namespace, s.Deployment)
	}
	fmt.Printf("\nlogs of all components: %s\n", s.Logs)
}

// keepCluster runs the keeper. It starts the cluster, writes its state, and runs until a
// signal or until a component dies.
func keepCluster(ctx context.Context, _ []string) error {
	folder, err := findKeeper()
	if err != nil {
		return err
	}
	lock, err := filelock.Try(folder.lock())
	if err != nil {
		return err
	}
	defer lock.Release()
	progress, err := report.OpenProgress(folder.progress())
	if err != nil {
		return err
	}
	defer progress.Close()
	say := func(text string) { _ = progress.Send(report.Message{Step: text}) }

	err = folder.host(ctx, say)
	if err != nil && ctx.Err() == nil {
		_ = progress.Send(report.Message{Fatal: err.Error()})
	}
	return err
}

func (k keeperFolder) host(ctx context.Context, say func(string)) error {
	c, a, err := selectedForUp()
	if err != nil {
		return err
	}
	plan, err := e2e.Prepare(ctx, c, a, say)
	if err != nil {
		return err
	}
	name := noProvider
	if a != nil {
		name = a.Name
	}
	session, err := plan.Start(ctx, name+"-up", k.logs())
	if err != nil {
		return err
	}
	s := state{PID: os.Getpid(), Kubernetes: c.Kubernetes, Kubeconfig: session.Cluster.Kubeconfig(), Logs: k.logs()}
	if a != nil {
		s.Provider, s.Namespace, s.Deployment = a.Name, session.Provider.Namespace, session.Provider.Deployment
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(k.state(), data, 0o600)
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case <-session.Dead():
			err = session.Err()
		}
	}
	err = errors.Join(err, session.Close(context.WithoutCancel(ctx)))
	if err != nil {
		return err // the folder stays, with the keeper's log
	}
	return os.Remove(k.state())
}

func down(ctx context.Context, _ []string) error {
	folder, err := findKeeper()
	if err != nil {
		return err
	}
	s, alive, err := folder.running()
	if err != nil {
		return err
	}
	if !alive {
		c, err := e2e.FromEnv()
		if err != nil {
			return err
		}
		reaped, err := c.Reap(ctx)
		for _, name := range reaped {
			step("ended what a dead run left behind: " + name)
		}
		if len(reaped) == 0 {
			step("no cluster is up")
		}
		return err
	}
	if s.PID == 0 {
		return fmt.Errorf("the cluster is still starting: try again in a few seconds, or see %s", folder.log())
	}
	if err := syscall.Kill(s.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("ending the keeper, process %d: %w", s.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	lock, err := filelock.Wait(ctx, folder.lock(), nil)
	if err != nil {
		return fmt.Errorf("the keeper, process %d, has not ended: %w; see %s", s.PID, err, folder.log())
	}
	lock.Release()
	step("the cluster is gone")
	return os.RemoveAll(string(folder))
}
