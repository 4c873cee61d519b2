package hostnode

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setWaiting writes into the status why the container waits.
func (c *container) setWaiting(err error) {
	reason := reasonCreate
	message := err.Error()
	if u, ok := errors.AsType[*waitError](err); ok {
		reason, message = u.reason, u.err.Error()
	}
	c.mu.Lock()
	if old := c.state.State.Waiting; old != nil && old.Reason == reason && old.Message == message {
		c.mu.Unlock()
		return
	}
	if ended := c.state.State.Terminated; ended != nil {
		c.state.LastTerminationState.Terminated = ended
	}
	c.state.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	c.mu.Unlock()
	c.pod.statusChanged()
	if reason == reasonBackOff {
		c.pod.recordWarning("BackOff", message)
	} else {
		c.pod.recordWarning("Failed", fmt.Sprintf("container %s: %s", c.spec.Name, message))
	}
}

func (c *container) setRunning(l *loaded, p *process) {
	c.mu.Lock()
	started := c.spec.StartupProbe == nil
	s := &c.state
	if ended := s.State.Terminated; ended != nil {
		s.LastTerminationState.Terminated = ended
	}
	if s.LastTerminationState.Terminated != nil {
		s.RestartCount++
	}
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	s.ImageID = l.digest
	s.ContainerID = fmt.Sprintf("plumbline://%s/%s/%d", c.pod.object().UID, c.spec.Name, s.RestartCount)
	s.Ready = started && c.spec.ReadinessProbe == nil
	c.running, c.failed, c.killed = p, "", false
	c.mu.Unlock()
	c.setStarted(started)
}

func (c *container) setStarted(started bool) {
	c.mu.Lock()
	c.state.Started = &started
	if started {
		if !c.wasStarted() {
			close(c.began)
		}
		if c.spec.ReadinessProbe == nil {
			c.state.Ready = true
		}
	}
	c.mu.Unlock()
	c.pod.statusChanged()
}

func (c *container) setReady(ready bool) {
	c.mu.Lock()
	c.state.Ready = ready
	c.mu.Unlock()
	c.pod.statusChanged()
}

func (c *container) setEnded(code int, message string) {
	c.mu.Lock()
	reason := "Error"
	if code == 0 {
		reason = "Completed"
	}
	if c.failed != "" {
		message = c.failed + "\n" + message
	}
	notStarted := false
	c.state.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(code), Reason: reason, Message: message,
		StartedAt: c.state.State.Running.StartedAt, FinishedAt: metav1.Now(), ContainerID: c.state.ContainerID,
	}}
	// An init container that is done counts as ready.
	c.state.Ready, c.state.Started, c.running = c.init && !c.sidecar && code == 0, &notStarted, nil
	c.mu.Unlock()
	c.pod.statusChanged()
}

// status returns a copy of the container's status.
func (c *container) status() corev1.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.state.DeepCopy()
}
