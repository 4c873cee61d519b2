package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

const (
	askEvery  = 50 * time.Millisecond  // between requests to the readiness endpoint
	readEvery = 500 * time.Millisecond // between readings of the log, for denials
	maxAnswer = 1 << 10                // bytes of the endpoint's answer to keep
)

// errReady ends the wait with success.
var errReady = errors.New("ready")

// start is the wait for a newly installed controller or simulator.
type start struct {
	*Installed
	what    string                     // controller or simulator
	timeout time.Duration              // within which it must be ready
	setting string                     // the adapter's setting for timeout
	pod     atomic.Pointer[corev1.Pod] // the newest state of the newest pod
	answer  atomic.Pointer[string]     // last answer of its readiness endpoint
}

// await returns nil once the controller is ready, or an error with all that is known about it.
func (s *start) await(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, s.timeout,
		fmt.Errorf("it was not ready within %s (%s)", s.timeout, s.setting))
	defer cancel()
	signals, within := errgroup.WithContext(limited)
	signals.Go(func() error { return s.watchPods(within) })
	signals.Go(func() error { return s.askEndpoint(within) })
	signals.Go(func() error { return s.readLog(within) })
	err := signals.Wait()
	switch {
	case errors.Is(err, errReady):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		err = context.Cause(limited)
	}
	return s.explain(ctx, err)
}

// watchPods watches the pods until one is ready or broken.
func (s *start) watchPods(ctx context.Context) error {
	pods := cache.NewFilteredListWatchFromClient(s.clients.typed.CoreV1().RESTClient(), "pods", s.Namespace,
		func(o *metav1.ListOptions) { o.LabelSelector = s.selector })
	_, err := watchtools.UntilWithSync(ctx, pods, &corev1.Pod{}, nil, func(e watch.Event) (bool, error) {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || e.Type == watch.Deleted || pod.DeletionTimestamp != nil {
			return false, nil
		}
		if known := s.pod.Load(); known == nil || !pod.CreationTimestamp.Before(&known.CreationTimestamp) {
			s.pod.Store(pod)
		}
		return false, judge(pod)
	})
	return err
}

// judge returns errReady for a ready pod, nil for a starting one, and an error for one that
// can't recover. A controller that ended once is broken, even if its next start would succeed.
// In a run this would be a crash.
func judge(pod *corev1.Pod) error {
	hopeless := []string{
		"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
		"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff",
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		ended := c.State.Terminated
		if ended == nil {
			ended = c.LastTerminationState.Terminated
		}
		isInit := slices.ContainsFunc(pod.Status.InitContainerStatuses, func(i corev1.ContainerStatus) bool {
			return i.Name == c.Name
		})
		if ended != nil && (!isInit || ended.ExitCode != 0) {
			return fmt.Errorf("its container %s ended with exit code %d%s", c.Name, ended.ExitCode,
				colon(strings.TrimSpace(ended.Reason+" "+telling(ended.Message))))
		}
		if w := c.State.Waiting; w != nil && slices.Contains(hopeless, w.Reason) {
			return fmt.Errorf("its container %s cannot start: %s%s", c.Name, w.Reason, colon(w.Message))
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return fmt.Errorf("its pod failed: %s%s", pod.Status.Reason, colon(pod.Status.Message))
	}
	if isReady(pod) {
		return errReady
	}
	return nil
}

// askEndpoint polls the readiness endpoint, as the kubelet does, if this host can reach it.
func (s *start) askEndpoint(ctx context.Context) error {
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	err := wait.PollUntilContextCancel(ctx, askEvery, true, func(ctx context.Context) (bool, error) {
		return s.isReady(ctx, client)
	})
	if err == nil {
		return errReady
	}
	return err
}

// isReady asks the readiness endpoint once, if this host can reach it.
func (s *start) isReady(ctx context.Context, client *http.Client) (bool, error) {
	url := s.readinessURL()
	if url == "" {
		return false, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, fmt.Errorf("its readiness endpoint: %w", err)
	}
	answer, err := client.Do(request)
	if err != nil { // it doesn't listen yet; the timeout ends the wait
		if ctx.Err() == nil {
			s.answer.Store(new(err.Error()))
		}
		return false, nil
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	s.answer.Store(new(fmt.Sprintf("GET %s: %s: %s", url, answer.Status, strings.TrimSpace(string(body)))))
	return answer.StatusCode < http.StatusBadRequest, err
}

// readinessURL returns the URL of the controller's readiness probe. It is empty unless the
// container runs on this host and its probe is plain HTTP.
func (s *start) readinessURL() string {
	pod, probe := s.pod.Load(), s.container.ReadinessProbe
	if pod == nil || probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
		return ""
	}
	if ip := net.ParseIP(pod.Status.PodIP); ip == nil || !ip.IsLoopback() {
		return ""
	}
	started := slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == s.container.Name && c.State.Running != nil
	})
	port := probe.HTTPGet.Port.IntValue()
	for _, p := range s.container.Ports {
		if p.Name == probe.HTTPGet.Port.StrVal && p.Name != "" {
			port = int(p.ContainerPort)
		}
	}
	if !started || port == 0 {
		return ""
	}
	return "http://" + net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(port)) + "/" +
		strings.TrimPrefix(probe.HTTPGet.Path, "/")
}
