package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Toolchain is the Go release for all builds; a module may require a later one. An older go
// command downloads it from the module proxy.
const Toolchain = "go1.26.11"

// command is a call of the go command.
type command struct {
	dir          string // working directory
	tmp          string // temporary folder; the system's if empty
	goos, goarch string // the target; this machine if empty
	flags        string // GOFLAGS; -mod=readonly if empty
}

// failure is a failed go command.
type failure struct {
	args   []string
	output string // stderr
	err    error
}

func (f *failure) Error() string {
	return fmt.Sprintf("go %s: %v\n%s", strings.Join(f.args, " "), f.err, tail(f.output, 20))
}

func (f *failure) Unwrap() error { return f.err }

// run runs the go command and returns its standard output. If ctx ends, it kills the command
// and all compilers that the command started.
func (c command) run(ctx context.Context, args ...string) (stdout []byte, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = c.dir
	cmd.Env = c.environ(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	runtime.LockOSThread() // Pdeathsig is about the thread, not the process
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, exec.ErrNotFound) {
			return nil, err
		}
		return out.Bytes(), &failure{args: args, output: diagnostics.String(), err: err}
	}
	return out.Bytes(), nil
}

// environ returns the user's environment without settings that would change the result.
func (c command) environ(user []string) []string {
	ours := map[string]string{
		"GOTOOLCHAIN":  Toolchain + "+auto",
		"GOFLAGS":      "-mod=readonly", // if empty, the file of go env -w applies
		"GOWORK":       "off",
		"GO111MODULE":  "on",
		"CGO_ENABLED":  "0",
		"GOEXPERIMENT": "",
		"GOROOT":       "", // it could be of another release
		"GOOS":         c.goos,
		"GOARCH":       c.goarch,
		"GOTMPDIR":     c.tmp,
		"PWD":          c.dir,
	}
	if c.flags != "" {
		ours["GOFLAGS"] = c.flags
	}
	env := slices.DeleteFunc(slices.Clone(user), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, set := ours[name]
		return set
	})
	for name, value := range ours {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	return env
}

func tail(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
