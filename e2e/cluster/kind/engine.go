package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	kindcluster "sigs.k8s.io/kind/pkg/cluster"
)

// answerWithin is how long an engine may take to answer.
const answerWithin = 10 * time.Second

// engine is a container engine: a command that kind knows.
type engine struct {
	command string
	option  kindcluster.ProviderOption
}

func engines() []engine {
	return []engine{
		{"docker", kindcluster.ProviderWithDocker()},
		{"podman", kindcluster.ProviderWithPodman()},
	}
}

// engineVariable selects the engine, as for kind's own command.
const engineVariable = "KIND_EXPERIMENTAL_PROVIDER"

// Engine returns the command of an installed engine that runs, as a kind cluster would use it. The error tells users
// what to do.
func Engine(ctx context.Context) (string, error) {
	e, err := findEngine(ctx)
	return e.command, err
}

// findEngine returns an installed engine that runs. The error tells users what to do.
func findEngine(ctx context.Context) (engine, error) {
	known := engines()
	if chosen := os.Getenv(engineVariable); chosen != "" {
		i := slices.IndexFunc(known, func(e engine) bool { return e.command == chosen })
		if i < 0 {
			return engine{}, fmt.Errorf("%s=%s: known are docker and podman", engineVariable, chosen)
		}
		known = known[i : i+1]
	}
	var silent []error
	for _, e := range known {
		if _, err := exec.LookPath(e.command); err != nil {
			continue
		}
		err := e.checkRuns(ctx)
		if err == nil {
			return e, nil
		}
		silent = append(silent, err)
	}
	if ctx.Err() != nil {
		return engine{}, context.Cause(ctx)
	}
	if len(silent) > 0 {
		return engine{}, fmt.Errorf("kind clusters run in containers: %w", errors.Join(silent...))
	}
	names := make([]string, len(known))
	for i, e := range known {
		names[i] = e.command
	}
	return engine{}, fmt.Errorf("kind clusters run in containers, and there is no %s here: install Docker or podman, or "+
		"say CLUSTER=local, which needs neither", strings.Join(names, " and no "))
}

// checkRuns asks the engine itself: the command can be installed without it.
func (e engine) checkRuns(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, e.command, "info", "--format", "{{json .}}").
		CombinedOutput() //nolint:gosec // one of ours
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer within %s", answerWithin)
	default:
		if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); lines[len(lines)-1] != "" {
			err = errors.New(lines[len(lines)-1])
		}
	}
	return fmt.Errorf("%s is installed but doesn't work: %w; start its engine (`systemctl start docker`, Docker "+
		"Desktop, `podman machine start`), see `%s info`, or say CLUSTER=local, which needs none",
		e.command, err, e.command)
}

// inspect returns one field of a container, by a template.
func (e engine) inspect(ctx context.Context, container, template string) (string, error) {
	out, err := exec.CommandContext(ctx, e.command, "inspect", "--format", template, container).
		Output() //nolint:gosec // a container of ours
	if err != nil {
		return "", fmt.Errorf("%s inspect %s: %w", e.command, container, err)
	}
	return strings.TrimSpace(string(out)), nil
}
