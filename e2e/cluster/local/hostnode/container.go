package hostnode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Reasons why a container waits, as the kubelet names them.
const (
	reasonInitializing = "PodInitializing"
	reasonCreating     = "ContainerCreating"
	reasonImage        = "ErrImagePull"
	reasonConfig       = "CreateContainerConfigError"
	reasonCreate       = "CreateContainerError"
	reasonRun          = "RunContainerError"
	reasonBackOff      = "CrashLoopBackOff"
)

// retryEvery is the delay before a retry if the start failed for another reason than the
// process itself, such as a missing Secret.
const retryEvery = 2 * time.Second

// container is one container of a pod, over all its restarts.
type container struct {
	pod     *pod
	spec    corev1.Container
	init    bool
	sidecar bool
	logFile string

	mu      sync.Mutex
	state   corev1.ContainerStatus
	running *process
	box     sandbox
	mounted map[string]content // by mount path
	moved   []move             // its emptyDirs, outer mounts before those inside them
	began   chan struct{}      // closed when status.started first becomes true
	failed  string             // why a probe ended the process; "" if none did
	killed  bool               // by Kill, since the last start
	ahead   time.Duration      // how far its wall clock is ahead of the cluster's, from the next start on
}

func newContainer(p *pod, spec corev1.Container, init bool) *container {
	started := false
	reason := reasonCreating
	if len(p.latest.Spec.InitContainers) > 0 {
		reason = reasonInitializing
	}
	return &container{
		pod: p, spec: spec, init: init,
		sidecar: init && spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways,
		logFile: logFile(p.node.options.Logs, p.latest.Namespace, p.latest.Name, spec.Name),
		mounted: map[string]content{}, began: make(chan struct{}),
		state: corev1.ContainerStatus{
			Name: spec.Name, Image: spec.Image, Started: &started,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		},
	}
}

// waitError is why a container waits instead of running.
type waitError struct {
	reason string
	err    error
}

func (u *waitError) Error() string { return u.reason + ": " + u.err.Error() }
func (u *waitError) Unwrap() error { return u.err }

// run runs the container until it has ended for good, and returns its last exit code.
func (c *container) run(ctx context.Context) int {
	code := -1
	crashes := backoff{first: c.pod.node.options.Backoff}
	for ctx.Err() == nil {
		_, more, _ := c.pod.node.images.lookup(c.spec.Image)
		at := time.Now()
		ended, err := c.runOnce(ctx)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			c.setWaiting(err)
			sleep(ctx, retryEvery, more)
			continue
		}
		code = ended
		if ctx.Err() != nil || !c.shouldRestart(code) {
			break
		}
		if c.wasKilled() {
			continue // at once: Kill is no crash loop
		}
		if delay := crashes.nextDelay(time.Since(at)); delay > 0 {
			c.setWaiting(&waitError{
				reasonBackOff,
				fmt.Errorf("back-off %s restarting failed container=%s pod=%s", delay, c.spec.Name, c.pod.object().Name),
			})
			sleep(ctx, delay, nil)
		}
	}
	return code
}

// shouldRestart reports whether the container must restart after that exit code.
func (c *container) shouldRestart(code int) bool {
	policy := c.pod.object().Spec.RestartPolicy
	switch {
	case c.sidecar:
		return true
	case policy == corev1.RestartPolicyNever:
		return false
	case policy == corev1.RestartPolicyOnFailure || c.init:
		return code != 0
	default:
		return true
	}
}

// runOnce starts the container and returns when it has ended, by itself or because of ctx. An
// error means that it was not started.
func (c *container) runOnce(ctx context.Context) (code int, err error) {
	images := c.pod.node.images
	if isRegistryImage(c.spec.Image) {
		if err := images.pull(ctx, c.spec.Image); err != nil {
			return 0, &waitError{reasonImage, err}
		}
	}
	l, _, err := images.lookup(c.spec.Image)
	if err != nil {
		return 0, &waitError{reasonImage, err}
	}
	cmd, err := c.prepare(ctx, l)
	defer func() { err = errors.Join(err, c.removeFiles()) }()
	if err != nil {
		return 0, err
	}
	out, err := os.OpenFile(c.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, &waitError{reasonCreate, err}
	}
	defer func() { _ = out.Close() }()
	offset, err := out.Seek(0, 2)
	if err != nil {
		return 0, &waitError{reasonCreate, err}
	}
	process, err := c.pod.node.starter.start(cmd.build(out), c.lead())
	if err != nil {
		return 0, &waitError{reasonRun, fmt.Errorf("starting %s: %w", cmd.args[0], err)}
	}
	if process.unbent != nil {
		c.pod.node.options.Clock.Break(fmt.Errorf("container %s of pod %s: %w", c.spec.Name, c.pod.object().Name,
			process.unbent))
	}
	c.setRunning(l, process)
	probing, stopProbing := context.WithCancel(ctx)
	var probes sync.WaitGroup
	probes.Go(func() { c.runProbes(probing) })

	select {
	case <-process.done:
	case <-ctx.Done():
		process.stop(c.pod.gracePeriod())
	}
	stopProbing()
	probes.Wait()
	c.setEnded(process.code, c.terminationMessage(cmd, process.code, offset))
	return process.code, nil
}

// removeFiles removes the container's files, but not its emptyDirs.
func (c *container) removeFiles() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.takeEmptyDirsBack()
	clear(c.mounted)
	return errors.Join(err, os.RemoveAll(c.rootDir()))
}

func (c *container) rootDir() string { return filepath.Join(c.pod.dir, c.spec.Name) }

// stopProcess stops the running process, if any; run restarts it.
func (c *container) stopProcess(reason string) {
	c.mu.Lock()
	process := c.running
	c.failed = reason
	c.mu.Unlock()
	if process != nil {
		process.stop(c.pod.gracePeriod())
	}
}

// refreshVolumes updates the volumes of a running container.
func (c *container) refreshVolumes(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		return nil
	}
	v := newVolumes(c.environment(), c.pod.tokens, c.pod.node.rootCA)
	for _, m := range c.spec.VolumeMounts {
		held, ok := c.mounted[m.MountPath]
		if !ok {
			continue
		}
		holds, err := v.render(ctx, volumeNamed(c.pod.object(), m.Name))
		if err != nil {
			return err
		}
		if err := c.box.refresh(m.MountPath, held, holds); err != nil {
			return fmt.Errorf("mount %s: %w", m.MountPath, err)
		}
		c.mounted[m.MountPath] = maps.Clone(holds)
	}
	return nil
}

// wasStarted reports whether the container was ever started.
func (c *container) wasStarted() bool {
	select {
	case <-c.began:
		return true
	default:
		return false
	}
}

// awaitStarted waits for the start and reports whether it came before ctx ended.
func (c *container) awaitStarted(ctx context.Context) bool {
	select {
	case <-c.began:
		return true
	case <-ctx.Done():
		return false
	}
}
