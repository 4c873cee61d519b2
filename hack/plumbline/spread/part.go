package spread

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// endedLine is a part's last line. Its artifacts wait for whoever reads it.
const endedLine = "· the part has ended"

// Files of a part, in the folder for its work.
const (
	artifactsFolder = workFolder + "/artifacts"
	fetchedFile     = workFolder + "/fetched" // once it is there, the pod may end
)

// keepFor is how long a part's artifacts wait to be fetched.
const keepFor = time.Hour

// Part is what pods run: "part -- COMMAND" runs a part's command and keeps its artifacts until they are fetched, which
// "part -artifacts" and "part -let-go" do. It fails only if there are no artifacts: red specs are for who reads them.
func Part(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("part", flag.ContinueOnError)
	artifacts := flags.Bool("artifacts", false, "print the artifacts as a compressed tar archive")
	letGo := flags.Bool("let-go", false, "let the pod end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *artifacts:
		return pack(os.Stdout, artifactsFolder)
	case *letGo:
		return os.WriteFile(fetchedFile, nil, 0o600)
	case flags.NArg() == 0:
		return errors.New("usage: plumbline part -- COMMAND, in a pod that `ON=kubernetes` has started")
	}
	cmd := exec.CommandContext(ctx, flags.Arg(0), flags.Args()[1:]...) //nolint:gosec // it is the pod's own
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // only we pass signals on, once
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	if _, missing := os.Stat(artifactsFolder); missing != nil {
		return fmt.Errorf("it left no artifacts: %w", errors.Join(err, missing))
	}
	fmt.Println(endedLine)
	return awaitFetched(ctx)
}

// awaitFetched returns when the artifacts have been fetched.
func awaitFetched(ctx context.Context) error {
	late := fmt.Errorf("nobody has fetched the artifacts within %s", keepFor)
	ctx, cancel := context.WithTimeoutCause(ctx, keepFor, late)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(fetchedFile); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
