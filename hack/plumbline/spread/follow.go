package spread

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// look is how often a run looks at its Job, and at how long its pods wait.
const look = 2 * time.Second

// following is what is known of the parts while they run.
type following struct {
	*Run
	mu      sync.Mutex
	fetched map[int]bool      // parts whose artifacts are here
	running map[types.UID]int // pods that run, and their parts
	said    map[types.UID]string
	moved   time.Time // when a pod last ran, or the Job was still to be admitted
	queued  bool      // that it waits for that was said
	streams sync.WaitGroup
}

func newFollowing(r *Run) *following {
	return &following{
		Run: r, fetched: map[int]bool{}, running: map[types.UID]int{}, said: map[types.UID]string{}, moved: time.Now(),
	}
}

// follow shows the parts' lines, and fetches their artifacts, until all are here or none comes any more.
func (r *Run) follow(ctx context.Context) error {
	f := newFollowing(r)
	watched, stop := context.WithCancel(ctx)
	defer f.streams.Wait()
	defer stop()
	factory := informers.NewSharedInformerFactoryWithOptions(r.client, 0, informers.WithNamespace(r.namespace()),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = runLabel + "=" + r.name }))
	pods := factory.Core().V1().Pods().Informer()
	see := func(o any) {
		if pod, is := o.(*corev1.Pod); is {
			f.see(watched, pod)
		}
	}
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, o any) { see(o) },
		DeleteFunc: func(o any) {
			if pod, is := o.(*corev1.Pod); is {
				f.gone(pod, "was deleted")
			}
		},
	}); err != nil {
		return err
	}
	factory.Start(watched.Done())
	defer factory.Shutdown()
	defer stop() // before Shutdown, which waits for it
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if over, err := f.over(ctx); over || err != nil {
			return err
		}
	}
}

// over reports whether all parts are here; the error says why some won't come.
func (f *following) over(ctx context.Context) (bool, error) {
	job, err := f.client.BatchV1().Jobs(f.namespace()).Get(ctx, f.name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("looking at the parts: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var left []string
	for part := 1; part <= f.Parts; part++ {
		if !f.fetched[part] {
			left = append(left, fmt.Sprintf("%d/%d", part, f.Parts))
		}
	}
	missing := "part " + strings.Join(left, ", ") + " is missing"
	ended := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete) && c.Status == corev1.ConditionTrue
	})
	switch {
	case len(left) == 0:
		return true, nil
	case len(f.running) > 0:
		f.moved = time.Now()
		return false, nil
	case job.Spec.Suspend != nil && *job.Spec.Suspend: // a queue admits it when it is its turn
		if !f.queued {
			f.queued = true
			f.say("waiting for %s to admit the Job", cmp.Or(f.Queue, "whoever has suspended it"))
		}
		f.moved = time.Now()
		return false, nil
	case ended:
		return true, fmt.Errorf("%s: its pods have failed %d times", missing, retries+1)
	case time.Since(f.moved) > f.StartWithin:
		return true, fmt.Errorf("%s: no pod of it has started within %s", missing, f.StartWithin)
	default:
		return false, nil
	}
}

// see takes notice of a pod's state.
func (f *following) see(ctx context.Context, pod *corev1.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part := indexOf(pod)
	if part == 0 || f.fetched[part] {
		return
	}
	_, known := f.running[pod.UID]
	switch {
	case pod.Status.Phase == corev1.PodRunning && !known:
		f.running[pod.UID] = part
		f.line(part, "· runs on node "+pod.Spec.NodeName)
		f.streams.Go(func() { f.stream(ctx, pod, part) })
	case pod.Status.Phase == corev1.PodPending:
		f.once(pod, part, waitsFor(pod))
	case pod.Status.Phase == corev1.PodFailed:
		f.lost(pod, part, whyFailed(pod))
	}
}

// gone takes notice of a pod that is there no longer.
func (f *following) gone(pod *corev1.Pod, how string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if part := indexOf(pod); part > 0 && !f.fetched[part] && pod.Status.Phase != corev1.PodFailed {
		f.lost(pod, part, how)
	}
}

// lost says that a pod has ended before its artifacts were fetched. The Job starts another one, up to a limit.
func (f *following) lost(pod *corev1.Pod, part int, why string) {
	delete(f.running, pod.UID)
	f.once(pod, part, fmt.Sprintf("pod %s %s; its part runs again", pod.Name, why))
}

// once prints a line about a pod, unless it is the one that was printed last.
func (f *following) once(pod *corev1.Pod, part int, text string) {
	if text != "" && f.said[pod.UID] != text {
		f.said[pod.UID] = text
		f.line(part, "· "+text)
	}
}

// line prints a part's line.
func (f *following) line(part int, text string) {
	fmt.Fprintf(f.Out, "%*d/%d │ %s\n", len(fmt.Sprint(f.Parts)), part, f.Parts, text)
}

// waitsFor returns why a pod doesn't run yet; "" if it will in a moment.
func waitsFor(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "waits: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return strings.TrimSpace("waits: " + w.Reason + " " + w.Message)
		}
	}
	return ""
}

// whyFailed returns why a pod has failed, after its name.
func whyFailed(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("was ended (%s: %s)", c.Reason, c.Message)
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			return fmt.Sprintf("failed (exit code %d, %s)", t.ExitCode, strings.TrimSpace(t.Reason+" "+t.Message))
		}
	}
	return strings.TrimSpace("failed " + pod.Status.Reason + " " + pod.Status.Message)
}

// stream prints a pod's lines until the one that says that its part has ended. Then it fetches the artifacts.
func (f *following) stream(ctx context.Context, pod *corev1.Pod, part int) {
	var since *metav1.Time
	for ctx.Err() == nil {
		ended, last, err := f.readLog(ctx, pod, part, since)
		if ended {
			f.fetch(ctx, pod, part)
			return
		}
		if !last.IsZero() {
			since = &metav1.Time{Time: last}
		}
		f.mu.Lock()
		_, runs := f.running[pod.UID]
		if err != nil && runs && ctx.Err() == nil {
			f.once(pod, part, fmt.Sprintf("its log can't be read at the moment: %v", err))
		}
		f.mu.Unlock()
		if !runs {
			return
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
		}
	}
}

// readLog prints a pod's lines after a time. It returns the time of the last one, and whether the part has ended.
func (f *following) readLog(ctx context.Context, pod *corev1.Pod, part int, since *metav1.Time) (ended bool,
	last time.Time, err error,
) {
	stream, err := f.client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Follow: true, Timestamps: true, SinceTime: since,
	}).Stream(ctx)
	if err != nil {
		return false, last, err
	}
	defer stream.Close()
	lines := bufio.NewReader(stream)
	for {
		text, err := lines.ReadString('\n')
		stamp, line, stamped := strings.Cut(strings.TrimRight(text, "\n"), " ")
		at, wrong := time.Parse(time.RFC3339Nano, stamp)
		if stamped && wrong == nil && (since == nil || at.After(since.Time)) {
			last = at
			if line == endedLine {
				return true, last, nil
			}
			f.mu.Lock()
			f.line(part, line)
			f.mu.Unlock()
		}
		if errors.Is(err, io.EOF) {
			return false, last, nil
		}
		if err != nil {
			return false, last, err
		}
	}
}

// fetch brings a part's artifacts here, and lets its pod end. It tries as long as the pod is there.
func (f *following) fetch(ctx context.Context, pod *corev1.Pod, part int) {
	for ctx.Err() == nil {
		began := time.Now()
		size, err := f.copyArtifacts(ctx, pod, f.partFolder(part))
		if err == nil {
			err = f.exec(ctx, pod, io.Discard, Program, "part", "-let-go")
		}
		if !f.isOver(pod, part, size, time.Since(began), err) {
			select {
			case <-time.After(look):
				continue
			case <-ctx.Done():
			}
		}
		return
	}
}

// isOver takes notice of how fetching a part's artifacts has ended, and reports whether there is nothing left to try.
func (f *following) isOver(pod *corev1.Pod, part int, size int64, took time.Duration, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, runs := f.running[pod.UID]
	if err == nil {
		f.fetched[part] = true
		delete(f.running, pod.UID)
		f.line(part, fmt.Sprintf("· has ended; fetched %.1f MB of artifacts in %.1f s", float64(size)/1e6, took.Seconds()))
		return true
	}
	if runs && !errors.Is(err, context.Canceled) {
		f.once(pod, part, fmt.Sprintf("its artifacts can't be fetched at the moment: %v", err))
	}
	return !runs
}
