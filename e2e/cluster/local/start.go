package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/hostnode"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// Start makes a cluster and returns when each of its components works and the API server has
// the version asked for. It first removes what dead runs left. It builds programs that aren't
// in the cache, which takes minutes.
//
// If it fails, only the logs are left. The error names the component that didn't start, with
// the end of its log.
func Start(ctx context.Context, c *build.Cache, o cluster.Options) (cluster.Cluster, error) {
	say := o.Progress
	if say == nil {
		say = func(string) {}
	}
	bin, err := binaries(ctx, c, o.Kubernetes)
	if err != nil {
		return nil, err
	}
	removed, err := removeDead(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	if len(removed) > 0 {
		say("removed what a dead run left: " + strings.Join(removed, ", "))
	}
	started, err := retryWithOtherPorts(ctx, say, func() (*local, error) {
		say(fmt.Sprintf("starting Kubernetes %s", o.Kubernetes))
		begin := time.Now()
		l, err := startOnce(ctx, c, bin, o)
		if err == nil {
			say(fmt.Sprintf("Kubernetes %s is ready after %.1f s", o.Kubernetes, time.Since(begin).Seconds()))
		}
		return l, err
	})
	if err != nil {
		return nil, err
	}
	started.another = func(ctx context.Context) (cluster.Cluster, error) {
		o.Name, o.Bare, o.Progress = o.Name+"-management", true, nil
		if o.Logs != "" {
			o.Logs = filepath.Join(o.Logs, "management")
		}
		return Start(ctx, c, o)
	}
	return started, nil
}

// attempts is how often a cluster is started with other ports, if another process took one
// between the check and its use.
const attempts = 3

// retryWithOtherPorts calls start again if it failed because of a port.
func retryWithOtherPorts(ctx context.Context, say func(string), start func() (*local, error)) (*local, error) {
	for n := 1; ; n++ {
		l, err := start()
		d, ok := errors.AsType[*startFailure](err)
		if !ok || d.port == 0 || n == attempts || ctx.Err() != nil {
			return l, err
		}
		say(fmt.Sprintf("port %d of %s was taken in the meantime: starting again with others", d.port, d.component))
	}
}

// startOnce makes a cluster. If it fails, only the logs are left.
func startOnce(ctx context.Context, c *build.Cache, bin programs, o cluster.Options) (*local, error) {
	f, err := newFolder(ctx, c.Dir, o.Name)
	if err != nil {
		return nil, err
	}
	l := &local{folder: f, ports: newPorts(c.Dir), health: healthClient(), programs: bin, clock: o.Clock}
	l.taken, err = allocate(l.ports)
	if err == nil {
		err = l.start(ctx, bin, o)
	}
	if err != nil {
		err = fmt.Errorf("start cluster %s: %w", o.Name, c.Explain(ctx, "cluster", "500 MB", err))
		return nil, errors.Join(err, l.Close(ctx))
	}
	return l, nil
}

// binaries returns the programs' folders. It builds programs that aren't in the cache.
func binaries(ctx context.Context, c *build.Cache, version string) (programs, error) {
	pinned, err := build.Kubernetes(version)
	if err != nil {
		return programs{}, err
	}
	var bin programs
	for _, p := range []struct {
		pin string
		dir *string
	}{
		{"kubernetes-" + semver.MajorMinor(pinned), &bin.kubernetes},
		{"etcd", &bin.etcd},
		{"kwok", &bin.kwok},
	} {
		if *p.dir, err = c.Pinned(ctx, p.pin); err != nil {
			return programs{}, err
		}
	}
	bin.starter, err = launch.Starter(ctx, c)
	return bin, err
}

// start starts everything. Close ends what it started, even if it failed.
func (l *local) start(ctx context.Context, bin programs, o cluster.Options) error {
	version, err := build.Kubernetes(o.Kubernetes)
	if err != nil {
		return err
	}
	logs, err := logFolder(l.folder, o.Logs)
	if err != nil {
		return err
	}
	k, err := install(l.folder, bin, logs)
	if err != nil {
		return err
	}
	if o.Clock != nil {
		if bin, err = bentPrograms(l.folder, bin, o.Clock); err != nil {
			return err
		}
	}
	config, err := kwokctlConfig(version, k.pki(), bin, l.taken, o)
	if err != nil {
		return err
	}
	if l.access, err = k.create(ctx, config); err != nil {
		return err
	}
	l.components = func() *starting {
		return &starting{kwokctl: k, access: l.access, taken: l.taken, version: version, retried: map[string]int{}}
	}
	processes, err := l.components().ready(ctx)
	if err != nil {
		return err
	}
	if l.faults, err = l.interpose(ctx, k.pki()); err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(k.pki(), "ca.crt"))
	if err != nil {
		return err
	}
	l.node, err = hostnode.Start(ctx, hostnode.Options{
		Config: l.access, Dir: l.folder.Path("node"), Logs: logs, KubeletCA: ca, Clock: o.Clock,
		APIServer: l.faults.URL(),
	})
	if err != nil {
		return err
	}
	l.supervisor = supervise(ctx, &supervisor{processes: processes, logFile: k.logFile, onDeath: o.OnDeath})
	return nil
}

// logFolder makes the folder for logs. If none is wanted, it is in the cluster's folder.
func logFolder(f *owned.Folder, wanted string) (string, error) {
	if wanted == "" {
		wanted = f.Path("logs")
	}
	logs, err := filepath.Abs(wanted)
	if err != nil {
		return "", err
	}
	return logs, os.MkdirAll(logs, 0o755) //nolint:gosec // artifacts are for everybody
}
