package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/support"
	"sigs.k8s.io/e2e-framework/support/kwok"

	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// kwokctl runs kwokctl for one cluster, in that cluster's own environment.
type kwokctl struct {
	folder  *owned.Folder
	program string // path of the file to call
}

// install creates the cluster's folder. It links the logs' folder, an absolute path, into it,
// so that logs are written there directly.
func install(f *owned.Folder, bin programs, logs string) (*kwokctl, error) {
	k := &kwokctl{folder: f, program: f.Path("kwokctl")}
	for _, dir := range []string{f.Path("bin"), f.Path("tmp"), k.state()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(logs, k.state("logs")); err != nil {
		return nil, err
	}
	if err := os.Symlink(filepath.Join(bin.kwok, "kwokctl"), f.Path("bin", "kwokctl")); err != nil {
		return nil, err
	}
	// kwokctl would download a kubectl to check that the API server answers. starting.ready checks
	// that, and more.
	return k, errors.Join(k.command().Write(k.program, bin.starter),
		launch.Command{}.Write(f.Path("bin", "kubectl"), bin.starter))
}

// command returns what runs kwokctl in this cluster's folder only. It ignores the user's
// environment and home, and writes nothing there. All programs that it starts are in the
// folder, which shows whose they are.
func (k *kwokctl) command() launch.Command {
	f := k.folder
	return launch.Command{
		Env: []string{
			"HOME=" + f.Dir, "TMPDIR=" + f.Path("tmp"), "KWOK_WORKDIR=" + f.Path("kwok"),
			"PATH=" + f.Path("bin") + ":/usr/bin:/bin",
		},
		Words: []string{f.Path("bin", "kwokctl")},
	}
}

// create starts the components without waiting, and returns the administrator's access.
func (k *kwokctl) create(ctx context.Context, config []byte) (*rest.Config, error) {
	file := k.folder.Path("kwokctl.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	var provider support.E2EClusterProvider = kwok.NewProvider().
		WithName(k.folder.Name).
		WithPath(k.program).
		WithOpts(kwok.WithWaitDuration(0))
	temporary, err := provider.Create(ctx, "--config="+file, "--kubeconfig=")
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), removeKubeconfigs(k.folder.Name))
	}
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(temporary)
	if err = errors.Join(err, removeKubeconfigs(k.folder.Name)); err != nil {
		return nil, err
	}
	if err := os.WriteFile(k.folder.Path("kubeconfig"), content, 0o600); err != nil {
		return nil, err
	}
	access, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, fmt.Errorf("kwokctl's kubeconfig: %w", err)
	}
	access.QPS = -1 // the harness's own requests aren't what is tested
	return access, nil
}

// restart restarts the components that have ended.
func (k *kwokctl) restart(ctx context.Context, component string) error {
	// Without this, kwokctl takes a zombie for a living process.
	if err := os.Remove(k.pidFile(component)); err != nil {
		return err
	}
	if err := os.Rename(k.logFile(component), k.logFile(component+".previous")); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, k.program, "start", "cluster", "--name", k.folder.Name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kwokctl start cluster: %w\n%s", err, out)
	}
	return nil
}

// process returns the process of a component, or [process.ErrNone].
func (k *kwokctl) process(component string) (process.Process, error) {
	content, err := os.ReadFile(k.pidFile(component))
	if err != nil {
		return process.Process{}, fmt.Errorf("kwokctl did not start %s: %w", component, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return process.Process{}, fmt.Errorf("pid file of %s: %w", component, err)
	}
	return process.Find(pid)
}

// state returns a path in kwokctl's own folder of the cluster.
func (k *kwokctl) state(elem ...string) string {
	return k.folder.Path(append([]string{"kwok", "clusters", k.folder.Name}, elem...)...)
}

func (k *kwokctl) pki() string { return k.state("pki") }

func (k *kwokctl) pidFile(component string) string { return k.state("pids", component+".pid") }

func (k *kwokctl) logFile(component string) string { return k.state("logs", component+".log") }
