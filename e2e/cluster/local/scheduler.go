package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// schedulerSettings is the configuration of a kube-scheduler that RunScheduler runs. It differs
// from the default, which the cluster's own has, only in how it speaks to the API server, and
// in that it looks at all nodes.
func schedulerSettings(kubeconfig string) map[string]any {
	return map[string]any{
		"apiVersion":     "kubescheduler.config.k8s.io/v1",
		"kind":           "KubeSchedulerConfiguration",
		"leaderElection": map[string]any{"leaderElect": false},
		"clientConnection": map[string]any{
			"kubeconfig": kubeconfig, "qps": 1000, "burst": 1000,
			"contentType": "application/json", "acceptContentTypes": "application/json",
		},
		"percentageOfNodesToScore": 100,
	}
}

// RunScheduler runs a second kube-scheduler until ctx ends. It belongs to the cluster: Close
// ends it as well.
func (l *local) RunScheduler(ctx context.Context, kubeconfig []byte) error {
	dir, err := os.MkdirTemp(l.folder.Dir, "scheduler")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := func(name string) string { return filepath.Join(dir, name) }
	settings, err := yaml.Marshal(schedulerSettings(file("kubeconfig")))
	if err != nil {
		return err
	}
	log, err := os.Create(file("log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if err := errors.Join(
		os.WriteFile(file("kubeconfig"), kubeconfig, 0o600),
		os.WriteFile(file("settings"), settings, 0o600),
		// Its path shows whose process it is.
		os.Symlink(filepath.Join(l.programs.kubernetes, scheduler), file(scheduler)),
	); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, file(scheduler), "--config="+file("settings"), "--secure-port=0")
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil // it was to end
	}
	said, _ := os.ReadFile(file("log"))
	return fmt.Errorf("a second kube-scheduler ended: %w\n%s", err, said[max(0, len(said)-2000):])
}
