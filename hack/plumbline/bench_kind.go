package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// kindRounds is how many kind clusters to start. Each start takes half a minute.
const kindRounds = 3

// onKind starts kind clusters with the provider, one after another. An empty node image means
// kind's own. Without a container engine it prints that and measures nothing.
func onKind(ctx context.Context, a *providers.Adapter, nodeImage, scratch string) ([]figure, error) {
	c, err := configured(map[string]string{"CLUSTER": "kind", "NODE_IMAGE": nodeImage, "SPEED": "1"})
	if err != nil {
		return nil, err
	}
	plan, err := e2e.Prepare(ctx, c, a, step)
	if err != nil {
		step("kind is not measured: " + err.Error())
		return nil, nil //nolint:nilerr // without an engine there are no such figures
	}
	return startUp{
		plan: plan, rounds: kindRounds,
		memory: func(ctx context.Context, name string) (float64, error) {
			return containerMemory(ctx, "plumbline-"+name+"-control-plane")
		},
		cluster:  figure{Name: "kind cluster ready", Unit: "s"},
		provider: figure{Name: "provider ready on it after that", Unit: "s"},
		resident: figure{Name: "memory of the kind node with the provider", Unit: "MB"},
		ended:    figure{Name: "kind cluster ended, logs written", Unit: "s"},
	}.figures(ctx, scratch)
}

// configured returns the environment's configuration with some variables changed.
func configured(variables map[string]string) (c e2e.Config, err error) {
	for name, value := range variables {
		before := os.Getenv(name) // empty and unset mean the same
		if err := os.Setenv(name, value); err != nil {
			return c, err
		}
		defer func() { err = errors.Join(err, os.Setenv(name, before)) }()
	}
	return e2e.FromEnv()
}

// containerMemory asks the engine for a container's memory, in MB.
func containerMemory(ctx context.Context, container string) (float64, error) {
	out, err := exec.CommandContext(ctx, "docker", "stats", "--no-stream", "--format", "{{.MemUsage}}", container).Output()
	if err != nil {
		return 0, fmt.Errorf("docker stats %s: %w", container, err)
	}
	var used string
	if _, err := fmt.Sscan(string(out), &used); err != nil { // such as 612.4MiB / 23.46GiB
		return 0, fmt.Errorf("docker stats says %q: %w", out, err)
	}
	q, err := resource.ParseQuantity(used[:len(used)-1]) // without the B
	return q.AsApproximateFloat64() / 1e6, err
}
