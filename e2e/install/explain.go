package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

const (
	tailLines    = 20
	explainLimit = 5 * time.Second // to collect the details of a failure
)

// NotReady is the error of a controller or simulator that did not become ready.
type NotReady struct {
	What     string // controller or simulator
	Provider string
	Cause    error    // what ended the wait
	Status   []string // of the Deployment, the pod and its events, one line each
	LastLog  []string // what the log says of it, see Excerpt
}

func (n *NotReady) Unwrap() error { return n.Cause }

func (n *NotReady) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the %s of %s is not ready: %v", n.What, n.Provider, n.Cause)
	for _, line := range n.Status {
		b.WriteString("\n  " + line)
	}
	if len(n.LastLog) == 0 {
		b.WriteString("\nit has logged nothing")
		return b.String()
	}
	b.WriteString("\nits log at the end, or where it failed:")
	for _, line := range n.LastLog {
		b.WriteString("\n  " + line)
	}
	return b.String()
}

// explain returns a NotReady with all that is known about the failure.
func (s *start) explain(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, explainLimit)
	defer cancel()
	n := &NotReady{What: s.what, Provider: s.adapter.Name, Cause: cause}
	if d, err := s.clients.typed.AppsV1().Deployments(s.Namespace).
		Get(ctx, s.Deployment, metav1.GetOptions{}); err == nil {
		for _, c := range d.Status.Conditions {
			if c.Type == "ReplicaFailure" && c.Status == corev1.ConditionTrue {
				n.Status = append(n.Status, fmt.Sprintf("Deployment %s: %s: %s", d.Name, c.Reason, c.Message))
			}
		}
	}
	pod := s.pod.Load()
	if pod == nil {
		n.Status = append(n.Status, "it has no pod yet")
		return n
	}
	n.Status = append(n.Status, describePod(pod)...)
	if answer := s.answer.Load(); answer != nil {
		n.Status = append(n.Status, "readiness endpoint: "+*answer)
	}
	n.Status = append(n.Status, s.warningEvents(ctx, pod.Name)...)
	lines := s.log(ctx, pod.Name)
	if _, told := errors.AsType[*LacksRights](cause); !told {
		if denied := s.Denials(lines); len(denied) > 0 {
			n.Cause = fmt.Errorf("%w; %w", cause, s.Lacking(denied))
		}
	}
	if n.LastLog = Excerpt(s.Untolerated(lines), tailLines); len(n.LastLog) == 0 {
		n.LastLog = Excerpt(lines, tailLines)
	}
	return n
}

func describePod(pod *corev1.Pod) []string {
	lines := []string{fmt.Sprintf("pod %s on node %q: %s", pod.Name, pod.Spec.NodeName, pod.Status.Phase)}
	for _, c := range pod.Status.Conditions {
		if c.Status != corev1.ConditionTrue && c.Message != "" {
			lines = append(lines, fmt.Sprintf("  %s is %s: %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		lines = append(lines, fmt.Sprintf("  container %s: restarts %d, %s", c.Name, c.RestartCount, describeState(c.State)))
	}
	return lines
}

func describeState(s corev1.ContainerState) string {
	switch {
	case s.Running != nil:
		return "running"
	case s.Terminated != nil:
		return fmt.Sprintf("ended with exit code %d", s.Terminated.ExitCode)
	case s.Waiting != nil:
		return "waiting: " + s.Waiting.Reason + colon(s.Waiting.Message)
	}
	return "not started"
}

// colon returns ": text", or "" if there is no text.
func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func (s *start) warningEvents(ctx context.Context, pod string) []string {
	events, err := s.clients.typed.CoreV1().Events(s.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "type=Warning,involvedObject.name=" + pod,
	})
	if err != nil {
		return nil
	}
	var lines []string
	for i := range events.Items {
		lines = append(lines, fmt.Sprintf("event %s: %s", events.Items[i].Reason, events.Items[i].Message))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// log returns the controller's log so far, or nil if it can't be read.
func (s *start) log(ctx context.Context, pod string) []string {
	return podLog(ctx, s.cluster, s.Namespace, pod)
}

// podLog returns a pod's log so far, or nil if it can't be read.
func podLog(ctx context.Context, c cluster.Cluster, namespace, pod string) []string {
	stream, err := c.PodLog(ctx, namespace, pod)
	if err != nil {
		return nil
	}
	defer func() { _ = stream.Close() }()
	raw, err := io.ReadAll(stream)
	if err != nil && len(raw) == 0 {
		return nil
	}
	text := strings.TrimRight(string(raw), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// readLog returns an error once the API server keeps denying a request. One denial is not
// enough: a new binding of a role takes a moment to work.
func (s *start) readLog(ctx context.Context) error {
	before := map[string]int{}
	return wait.PollUntilContextCancel(ctx, readEvery, true, func(ctx context.Context) (bool, error) {
		pod := s.pod.Load()
		if pod == nil || pod.Spec.NodeName == "" {
			return false, nil
		}
		now := s.Denials(s.log(ctx, pod.Name))
		lasting := false
		for what, times := range now {
			lasting = lasting || before[what] > 0 && times > before[what]
		}
		before = now
		if !lasting {
			return false, nil
		}
		return false, s.Lacking(now)
	})
}
