package hostnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// closeGrace is the processes' grace period when the node is closed.
const closeGrace = 2 * time.Second

// pod is a pod with its containers.
type pod struct {
	node   *Node
	dir    string
	tokens *tokens
	init   []*container // including sidecars
	main   []*container

	ctx     context.Context // ends when the pod must end
	end     context.CancelFunc
	changed chan struct{} // signals that the status may have changed

	mu      sync.Mutex
	latest  *corev1.Pod // as the API server has it
	started metav1.Time
	grace   time.Duration
	sent    *corev1.PodStatus
}

func newPod(n *Node, latest *corev1.Pod) *pod {
	dir := filepath.Join(n.options.Dir, "pods", string(latest.UID))
	p := &pod{
		node: n, dir: dir, latest: latest, started: metav1.Now(), grace: closeGrace,
		tokens:  &tokens{client: n.client},
		changed: make(chan struct{}, 1),
	}
	p.ctx, p.end = context.WithCancel(n.ctx)
	for _, c := range latest.Spec.InitContainers {
		p.init = append(p.init, newContainer(p, c, true))
	}
	for _, c := range latest.Spec.Containers {
		p.main = append(p.main, newContainer(p, c, false))
	}
	return p
}

// containers lists the pod's containers, in the order of the manifest.
func (p *pod) containers() []*container { return slices.Concat(p.init, p.main) }

// object returns the pod as the API server has it; callers must not change it.
func (p *pod) object() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

func (p *pod) update(latest *corev1.Pod) {
	p.mu.Lock()
	p.latest = latest
	p.mu.Unlock()
	if latest.DeletionTimestamp == nil {
		p.statusChanged() // a readiness gate's condition may have changed
		return
	}
	grace := 30 * time.Second
	if latest.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*latest.DeletionGracePeriodSeconds) * time.Second
	}
	p.terminate(grace)
}

// terminate makes the pod end; run does the rest.
func (p *pod) terminate(grace time.Duration) {
	p.mu.Lock()
	p.grace = grace
	p.mu.Unlock()
	p.end()
}

// gracePeriod returns the time between SIGTERM and SIGKILL for this pod's processes.
func (p *pod) gracePeriod() time.Duration {
	if p.node.ctx.Err() != nil {
		return closeGrace
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return p.grace
	}
	if s := p.latest.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 30 * time.Second
}

// statusChanged makes syncStatus check the status again.
func (p *pod) statusChanged() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run runs the pod until it is gone from this node.
func (p *pod) run() {
	defer p.end()
	if p.object().DeletionTimestamp != nil {
		p.update(p.object())
	}
	// Status updates continue while containers end.
	sending, stopSending := context.WithCancel(p.node.ctx)
	var sender, keeper sync.WaitGroup
	sender.Go(func() { p.syncStatus(sending) })
	keeper.Go(p.keepVolumes)

	p.runContainers()
	p.statusChanged()
	keeper.Wait()
	<-p.ctx.Done() // a completed pod stays until it is deleted
	stopSending()
	sender.Wait()
	_ = p.writeStatus(p.node.ctx) // the final status; if that fails, the pod is removed anyway
	if err := os.RemoveAll(p.dir); err != nil {
		p.recordWarning("FailedCleanup", err.Error())
	}
	p.deleteFromAPI()
}

// runContainers runs the init containers one after the other, then all others. It returns when
// all have ended for good. It runs none of a pod that is refused.
func (p *pod) runContainers() {
	if err := refuse(p.object()); err != nil {
		for _, c := range p.containers() {
			c.setWaiting(&waitError{reasonConfig, err})
		}
		return
	}
	var sidecars, mains sync.WaitGroup
	ctx, stopSidecars := context.WithCancel(p.ctx)
	defer sidecars.Wait()
	defer stopSidecars()

	for _, c := range p.init {
		if c.sidecar {
			sidecars.Go(func() { c.run(ctx) })
			if !c.awaitStarted(p.ctx) {
				return
			}
			continue
		}
		if c.run(p.ctx) != 0 {
			return
		}
	}
	for _, c := range p.main {
		mains.Go(func() { c.run(p.ctx) })
	}
	mains.Wait()
}

// keepVolumes refreshes mounted tokens before they expire, and changed ConfigMaps and Secrets.
func (p *pod) keepVolumes() {
	tick := time.NewTicker(time.Minute) // the kubelet's sync period
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		for _, c := range p.containers() {
			if err := c.refreshVolumes(p.ctx); err != nil && p.ctx.Err() == nil {
				p.recordWarning("FailedMount", fmt.Sprintf("refreshing the volumes of container %s: %v", c.spec.Name, err))
			}
		}
	}
}

// deleteFromAPI deletes the pod from the API after all its containers have ended. podRemoved
// then removes it from the node.
func (p *pod) deleteFromAPI() {
	n, latest := p.node, p.object()
	if n.ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	_, known := n.pods[latest.UID]
	n.mu.Unlock()
	if !known { // it is gone already
		return
	}
	now := int64(0)
	err := n.client.CoreV1().Pods(latest.Namespace).Delete(n.ctx, latest.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now,
		Preconditions:      metav1.NewUIDPreconditions(string(latest.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !errors.Is(err, context.Canceled) {
		p.recordWarning("FailedKillPod", "removing it from the API: "+err.Error())
	}
}

// recordWarning creates an event of the pod. Events are for people, so it ignores failures.
func (p *pod) recordWarning(reason, message string) {
	latest, now := p.object(), metav1.Now()
	_, _ = p.node.client.CoreV1().Events(latest.Namespace).Create(p.node.ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: latest.Name + ".", Namespace: latest.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: latest.Namespace, Name: latest.Name, UID: latest.UID,
		},
		Reason: reason, Message: message, Type: corev1.EventTypeWarning, Count: 1,
		Source:         corev1.EventSource{Component: "kubelet", Host: Name},
		FirstTimestamp: now, LastTimestamp: now,
	}, metav1.CreateOptions{})
}
