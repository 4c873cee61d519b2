// Package pods gets logs and restarts of pods from the API, for backends with real containers.
package pods

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// tailLines is how many lines of a container's log are quoted.
const tailLines = 20

// Log returns the output of each container of a pod: its previous run, if the node still has
// it, and its last run.
func Log(ctx context.Context, client kubernetes.Interface, namespace, name string) (io.ReadCloser, error) {
	pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	var errs []error
	for _, c := range containers(pod) {
		log, err := containerLog(ctx, client, pod, c)
		errs = append(errs, err)
		all.Write(log)
	}
	if err := errors.Join(errs...); err != nil && all.Len() == 0 {
		return nil, err
	}
	return io.NopCloser(&all), nil
}

// WriteLogs writes the output of each container of a namespace's pods to a file in a folder, named
// <namespace>_<pod>_<container>.log. A container that never started has none.
func WriteLogs(ctx context.Context, client kubernetes.Interface, namespace, folder string) error {
	all, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var errs []error
	for i := range all.Items {
		pod := &all.Items[i]
		for _, c := range containers(pod) {
			log, err := containerLog(ctx, client, pod, c)
			if err != nil && len(log) == 0 {
				continue // other errors report that it never started
			}
			name := fmt.Sprintf("%s_%s_%s.log", namespace, pod.Name, c.Name)
			errs = append(errs, os.WriteFile(filepath.Join(folder, name), log, 0o644))
		}
	}
	return errors.Join(errs...)
}

func containers(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// containerLog returns the output of a container: its previous run, if the node still has it, and its last run. On
// an error, it returns what it got.
func containerLog(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, c corev1.ContainerStatus,
) (all []byte, err error) {
	var errs []error
	for _, previous := range []bool{true, false} {
		if previous && c.RestartCount == 0 {
			continue
		}
		log, err := client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
			&corev1.PodLogOptions{Container: c.Name, Previous: previous}).DoRaw(ctx)
		errs = append(errs, err)
		all = append(all, log...)
	}
	return all, errors.Join(errs...)
}

// WatchRestarts reports the first restart of a container in the namespace's pods, until ctx
// ends, but of none in the provider's controller, which specs kill. It also reports when it can't
// watch any more.
func WatchRestarts(ctx context.Context, client kubernetes.Interface, namespace string, which fields.Selector,
	report func(cluster.Death),
) {
	pods := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", namespace, which)
	lives := map[string]int32{}
	_, err := watchtools.UntilWithSync(ctx, pods, &corev1.Pod{}, nil, func(e watch.Event) (bool, error) {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || e.Type == watch.Deleted || pod.DeletionTimestamp != nil || isController(pod) {
			return false, nil
		}
		for _, c := range pod.Status.ContainerStatuses {
			id := fmt.Sprintf("%s/%s", pod.UID, c.Name)
			before, known := lives[id]
			lives[id] = c.RestartCount
			if known && c.RestartCount > before {
				report(deathReport(ctx, client, pod, c))
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil && ctx.Err() == nil {
		report(cluster.Death{Component: "the watch of the pods in " + namespace, LastLines: []string{err.Error()}})
	}
}

// isController reports whether a pod is of a controller of Karpenter's. Its name or its label contains "karpenter", as
// in every known chart.
func isController(pod *corev1.Pod) bool {
	return strings.Contains(pod.Name, "karpenter") || strings.Contains(pod.Labels["app.kubernetes.io/name"], "karpenter")
}

func deathReport(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod,
	c corev1.ContainerStatus,
) cluster.Death {
	log, err := client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: c.Name, Previous: true, TailLines: new(int64(tailLines)),
	}).DoRaw(ctx)
	if err != nil {
		log = []byte(err.Error())
	}
	return cluster.Death{Component: c.Name, LastLines: strings.Split(strings.TrimSpace(string(log)), "\n")}
}
