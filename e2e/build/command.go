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

// Toolchain is the release of Go that builds everything, or a later one where
// a module asks for it. An older go command fetches it from the module proxy.
const Toolchain = "go1.26.11"

// command is a run of the go command.
type command struct {
	dir          string // where it runs
	tmp          string // its scratch folder; the system's if empty
	goos, goarch string // the target; this machine if empty
	flags        string // GOFLAGS; -mod=readonly if empty
}

// failure is a go command that ended badly.
type failure struct {
	args   []string
	output string // what it wrote to stderr
	err    error
}

func (f *failure) Error() string {
	return fmt.Sprintf("go %s: %v\n%s", strings.Join(f.args, " "), f.err, tail(f.output, 20))
}

func (f *failure) Unwrap() error { return f.err }

// run runs the go command and returns its standard output. If ctx ends, the
// command and all compilers that it started are killed.
func (c command) run(ctx context.Context, args ...string) (stdout []byte, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = c.dir
	cmd.Env = c.environ(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	runtime.LockOSThread() // it's the thread's death that ends the child
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

// environ is the user's environment without what would change the result.
func (c command) environ(user []string) []string {
	ours := map[string]string{
		"GOTOOLCHAIN":  Toolchain + "+auto",
		"GOFLAGS":      "-mod=readonly", // not empty: an empty one means the file of go env -w
		"GOWORK":       "off",
		"GO111MODULE":  "on",
		"CGO_ENABLED":  "0",
		"GOEXPERIMENT": "",
		"GOROOT":       "", // of another release than the one that runs
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

// tail returns the last n lines of s.
func tail(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
