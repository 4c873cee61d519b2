package hostnode

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
)

// desk is a node with a fake API. Its containers run the program of testdata.
type desk struct {
	*WithT
	t      *testing.T
	client *fake.Clientset
	node   *Node
	image  string

	mu       sync.Mutex
	statuses []corev1.PodStatus     // all that were written, in order
	removed  []metav1.DeleteOptions // all removals of pods
}

var program = sync.OnceValues( //nolint:gochecknoglobals // built once for all tests
	func() (string, error) {
		dir := os.Getenv(programFolder)
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "program"), "./testdata/program")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return filepath.Join(dir, "program"), nil
	})

func newDesk(t *testing.T, o Options) *desk {
	t.Helper()
	t.Parallel()
	d := &desk{WithT: NewWithT(t), t: t, client: fake.NewClientset()}
	d.SetDefaultEventuallyTimeout(10 * time.Second)
	d.SetDefaultEventuallyPollingInterval(5 * time.Millisecond)
	d.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		handled, o, err := clienttesting.ObjectReaction(d.client.Tracker())(a)
		if p, ok := o.(*corev1.Pod); ok && err == nil {
			d.mu.Lock()
			d.statuses = append(d.statuses, *p.Status.DeepCopy())
			d.mu.Unlock()
		}
		return handled, o, err
	})
	d.client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.removed = append(d.removed, a.(clienttesting.DeleteActionImpl).DeleteOptions)
		return false, nil, nil
	})
	// The fake API loses events between a list and its watch.
	watched := make(chan struct{})
	d.client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		w, err := d.client.Tracker().Watch(corev1.SchemeGroupVersion.WithResource("pods"), "")
		close(watched)
		return true, w, err
	})
	binary, err := program()
	d.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	o.Config, o.Dir, o.Logs = &rest.Config{Host: "https://127.0.0.1:1"}, filepath.Join(dir, "node"),
		filepath.Join(dir, "logs")
	d.node, err = start(t.Context(), o, d.client)
	d.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { d.Expect(d.node.Close(t.Context())).To(Succeed()) })
	d.image, err = d.node.Load(t.Context(), BinaryPrefix+binary)
	d.Expect(err).NotTo(HaveOccurred())
	d.Eventually(watched).Should(BeClosed())
	return d
}

func (d *desk) pod(policy corev1.RestartPolicy, change func(*corev1.Pod), steps ...string) {
	d.t.Helper()
	binary, _ := program()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "1"},
		Spec: corev1.PodSpec{NodeName: Name, RestartPolicy: policy, Containers: []corev1.Container{
			{Name: "main", Image: d.image, Command: append([]string{binary}, steps...)},
		}},
	}
	if change != nil {
		change(p)
	}
	_, err := d.client.CoreV1().Pods("ns").Create(d.t.Context(), p, metav1.CreateOptions{})
	d.Expect(err).NotTo(HaveOccurred())
}

// now returns the pod's status, zero if there is no pod.
func (d *desk) now() corev1.PodStatus {
	p, err := d.client.CoreV1().Pods("ns").Get(d.t.Context(), "p", metav1.GetOptions{})
	if err != nil {
		return corev1.PodStatus{}
	}
	return p.Status
}

// main returns the container's state in a few words.
func (d *desk) main() string { return words(d.now()) }

func words(s corev1.PodStatus) string {
	if len(s.ContainerStatuses) == 0 {
		return ""
	}
	c := s.ContainerStatuses[0]
	state := "running"
	switch {
	case c.State.Waiting != nil:
		state = c.State.Waiting.Reason
	case c.State.Terminated != nil:
		state = fmt.Sprintf("%s %d", c.State.Terminated.Reason, c.State.Terminated.ExitCode)
	}
	return fmt.Sprintf("%s, ready %t, restarts %d, %s", state, c.Ready, c.RestartCount, s.Phase)
}

func (d *desk) log() string {
	r, err := d.node.PodLog(d.t.Context(), "ns", "p")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	d.Expect(err).NotTo(HaveOccurred())
	return string(data)
}

func TestNodeIsRegistered(t *testing.T) {
	d := newDesk(t, Options{Heartbeat: 10 * time.Millisecond})
	n, err := d.client.CoreV1().Nodes().Get(t.Context(), Name, metav1.GetOptions{})
	d.Expect(err).NotTo(HaveOccurred())
	d.Expect(n.Spec.Taints).
		To(ConsistOf(corev1.Taint{Key: "CriticalAddonsOnly", Value: "true", Effect: corev1.TaintEffectNoSchedule}))
	d.Expect(n.Labels).To(HaveKeyWithValue("kubernetes.io/os", "linux"))
	d.Expect(n.Status.DaemonEndpoints.KubeletEndpoint.Port).NotTo(BeZero())

	renewed := func() time.Time {
		l, err := d.client.CoordinationV1().Leases("kube-node-lease").Get(t.Context(), Name, metav1.GetOptions{})
		if err != nil || l.Spec.RenewTime == nil {
			return time.Time{}
		}
		return l.Spec.RenewTime.Time
	}
	d.Eventually(renewed).ShouldNot(BeZero())
	first := renewed()
	d.Eventually(renewed).Should(BeTemporally(">", first))

	d.Expect(d.client.CoreV1().Nodes().Delete(t.Context(), Name, metav1.DeleteOptions{})).To(Succeed())
	d.Eventually(func() error {
		_, err := d.client.CoreV1().Nodes().Get(t.Context(), Name, metav1.GetOptions{})
		return err
	}).Should(Succeed(), "it comes back when someone removed it")
}

func TestPodRunsToItsEnd(t *testing.T) {
	d := newDesk(t, Options{})
	signal := filepath.Join(t.TempDir(), "go on")
	d.pod(corev1.RestartPolicyNever, nil, "say=hello", "await="+signal)
	d.Eventually(d.main).Should(HavePrefix("running"))
	d.Expect(os.WriteFile(signal, nil, 0o600)).To(Succeed())
	d.Eventually(d.main).Should(Equal("Completed 0, ready false, restarts 0, Succeeded"))
	d.Expect(d.log()).To(Equal("hello\n"))
	d.mu.Lock()
	defer d.mu.Unlock()
	var seen []string
	for _, s := range d.statuses {
		if w := words(s); len(seen) == 0 || seen[len(seen)-1] != w {
			seen = append(seen, w)
		}
	}
	d.Expect(seen[max(0, len(seen)-2):]).To(Equal([]string{ // it may be created before
		"running, ready true, restarts 0, Running",
		"Completed 0, ready false, restarts 0, Succeeded",
	}))
}

func TestCrashes(t *testing.T) {
	d := newDesk(t, Options{Backoff: 50 * time.Millisecond})
	d.pod(corev1.RestartPolicyAlways, nil, "say=first line", "say=last line", "exit=4")
	var status corev1.PodStatus
	d.Eventually(func() string {
		status = d.now()
		return words(status)
	}).Should(MatchRegexp("^CrashLoopBackOff, ready false, restarts [2-9], Running$"),
		"each back-off is twice as long, so one is seen however slowly it is looked at")
	c := status.ContainerStatuses[0]
	last := c.LastTerminationState.Terminated
	d.Expect(last.ExitCode).To(BeEquivalentTo(4))
	d.Expect(last.Message).To(Equal("first line\nlast line"), "only of the last run")
	d.Expect(c.State.Waiting.Message).
		To(Equal(fmt.Sprintf("back-off %s restarting failed container=main pod=p", 50*time.Millisecond<<(c.RestartCount-1))))
	d.Expect(d.log()).To(HavePrefix("first line\nlast line\nfirst line\n"))
}

func TestEndingWellIsACrashToo(t *testing.T) {
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyAlways, nil, "exit=0")
	d.Eventually(d.main).Should(Equal("CrashLoopBackOff, ready false, restarts 1, Running"), "for what should run forever")
}

func TestBackoff(t *testing.T) {
	g := NewWithT(t)
	b := backoff{first: 10 * time.Second}
	var got []time.Duration
	for range 8 {
		got = append(got, b.nextDelay(time.Second)/time.Second)
	}
	g.Expect(got).To(Equal([]time.Duration{0, 10, 20, 40, 80, 160, 300, 300}))
	g.Expect(b.nextDelay(10*time.Minute)).To(BeZero(), "a long run is forgiven")
	g.Expect(b.nextDelay(time.Second)).To(Equal(10 * time.Second))
}

func TestImageMayComeLater(t *testing.T) {
	d := newDesk(t, Options{})
	d.pod(corev1.RestartPolicyNever, func(p *corev1.Pod) {
		p.Spec.Containers[0].Image = "plumbline.local/later:1"
	}, "say=hello")
	d.Eventually(d.main).Should(HavePrefix("ErrImagePull"))
	d.Expect(d.now().ContainerStatuses[0].State.Waiting.Message).
		To(And(ContainSubstring("plumbline.local/later:1"), ContainSubstring("loaded: "+d.image)))
	d.node.images.add(&loaded{name: "plumbline.local/later:1"})
	d.Eventually(d.main, time.Second).Should(HavePrefix("Completed"), "at once, not at the next try")
}

func TestInitContainersComeFirst(t *testing.T) {
	d := newDesk(t, Options{})
	binary, _ := program()
	signal := filepath.Join(t.TempDir(), "go on")
	always := corev1.ContainerRestartPolicyAlways
	d.pod(corev1.RestartPolicyNever, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{
			{Name: "one", Image: d.image, Command: []string{binary, "sleep=100ms", "say=one"}},
			{Name: "beside", Image: d.image, Command: []string{binary, "say=beside", "patient"}, RestartPolicy: &always},
		}
	}, "say=main", "await="+signal)
	d.Eventually(d.log).Should(And(ContainSubstring("patient"), ContainSubstring("main")))
	d.Expect(os.WriteFile(signal, nil, 0o600)).To(Succeed())
	d.Eventually(func() corev1.PodPhase { return d.now().Phase }).Should(Equal(corev1.PodSucceeded))
	d.Eventually(d.log).Should(And(HavePrefix("one\nbeside\npatient\n"), ContainSubstring("bye\n"), HaveSuffix("main\n")),
		"the sidecar ends after the main container")
}

func TestFailedInitContainerFailsThePod(t *testing.T) {
	d := newDesk(t, Options{})
	binary, _ := program()
	d.pod(corev1.RestartPolicyNever, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "one", Image: d.image, Command: []string{binary, "exit=1"}}}
	}, "say=main")
	d.Eventually(func() corev1.PodPhase { return d.now().Phase }).Should(Equal(corev1.PodFailed))
	d.Expect(d.log()).NotTo(ContainSubstring("main"))
}
