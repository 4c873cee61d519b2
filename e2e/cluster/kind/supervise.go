package kind

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// tailLines is how much of a component's log is quoted.
const tailLines = 20

// supervise reports the first of these that happens from now on: a container of the
// system is started again, or the node ends. Close ends it.
func (k *kind) supervise(ctx context.Context, onDeath func(cluster.Death)) error {
	if onDeath == nil {
		return nil
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = stop
	var once sync.Once
	report := func(d cluster.Death) {
		if life.Err() == nil {
			once.Do(func() { onDeath(d) })
		}
	}
	go func() {
		// It returns when the node's container ends, or is none.
		_ = exec.CommandContext(life, k.engine.command, "wait", k.node.String()).Run() //nolint:gosec // a container of ours
		report(cluster.Death{Component: "node " + k.node.String(), LastLines: []string{"its container ended"}})
	}()
	for _, namespace := range []string{systemNamespace, kwokNamespace} {
		go k.watchPods(life, namespace, report)
	}
	return nil
}

// watchPods reports the first container of the real node's pods in a namespace that is
// started again.
func (k *kind) watchPods(ctx context.Context, namespace string, report func(cluster.Death)) {
	pods := cache.NewListWatchFromClient(k.client.CoreV1().RESTClient(), "pods", namespace, fields.OneTermEqualSelector("spec.nodeName", k.node.String()))
	lives := map[string]int32{}
	_, err := watchtools.UntilWithSync(ctx, pods, &corev1.Pod{}, nil, func(e watch.Event) (bool, error) {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || e.Type == watch.Deleted || pod.DeletionTimestamp != nil {
			return false, nil
		}
		for _, c := range pod.Status.ContainerStatuses {
			id := fmt.Sprintf("%s/%s", pod.UID, c.Name)
			before, known := lives[id]
			lives[id] = c.RestartCount
			if known && c.RestartCount > before {
				report(k.obituary(ctx, pod, c))
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil && ctx.Err() == nil {
		report(cluster.Death{Component: "the watch of the system's pods", LastLines: []string{err.Error()}})
	}
}

func (k *kind) obituary(ctx context.Context, pod *corev1.Pod, c corev1.ContainerStatus) cluster.Death {
	log, err := k.client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: c.Name, Previous: true, TailLines: new(int64(tailLines)),
	}).DoRaw(ctx)
	if err != nil {
		log = []byte(err.Error())
	}
	return cluster.Death{Component: c.Name, LastLines: strings.Split(strings.TrimSpace(string(log)), "\n")}
}
