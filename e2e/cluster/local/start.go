package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/process"
)

// Start makes a cluster and returns when each of its components works and the
// API server is of the version that was asked for. Programs that aren't in the
// cache yet are built, which takes minutes. First of all, what dead runs left
// is removed.
//
// If it fails, nothing is left but the logs. The error names the component that
// didn't start, with the end of its log.
func Start(ctx context.Context, c *build.Cache, o cluster.Options) (cluster.Cluster, error) {
	say := o.Progress
	if say == nil {
		say = func(string) {}
	}
	bin, err := binaries(ctx, c, o.Kubernetes)
	if err != nil {
		return nil, err
	}
	removed, err := reap(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	if len(removed) > 0 {
		say("removed what a dead run left: " + strings.Join(removed, ", "))
	}
	f, err := claim(ctx, c.Dir, o.Name)
	if err != nil {
		return nil, err
	}
	say(fmt.Sprintf("starting Kubernetes %s", o.Kubernetes))
	started := &local{folder: f, ports: &ports{dir: filepath.Join(c.Dir, "ports")}}
	begin := time.Now()
	if err := started.start(ctx, bin, o); err != nil {
		err = fmt.Errorf("start cluster %s: %w", o.Name, err)
		return nil, errors.Join(err, started.Close(ctx))
	}
	say(fmt.Sprintf("Kubernetes %s is ready after %.1f s", o.Kubernetes, time.Since(begin).Seconds()))
	return started, nil
}

// binaries builds what isn't in the cache yet.
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
	return bin, nil
}

// start starts everything; Close ends what it started, also if it failed.
func (l *local) start(ctx context.Context, bin programs, o cluster.Options) error {
	version, err := build.Kubernetes(o.Kubernetes)
	if err != nil {
		return err
	}
	taken, err := allocate(l.ports)
	if err != nil {
		return err
	}
	config, err := kwokctlConfig(version, bin, taken)
	if err != nil {
		return err
	}
	k, err := install(l.folder, bin, o.Logs)
	if err != nil {
		return err
	}
	if l.access, err = k.create(ctx, config); err != nil {
		return err
	}
	s := &starting{kwokctl: k, access: l.access, taken: taken, version: version, retried: map[string]int{}}
	processes, err := s.ready(ctx)
	if err != nil {
		return err
	}
	l.supervisor = supervise(ctx, &supervisor{processes: processes, logFile: k.logFile, onDeath: o.OnDeath})
	return nil
}

// end ends all processes of the cluster.
func (l *local) end(ctx context.Context) error {
	return process.End(ctx, l.folder.dir, grace)
}
