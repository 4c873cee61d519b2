package spread

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
)

// onCluster returns a run on a cluster with some objects, on which everything is allowed but one verb.
func onCluster(o Options, denied string, objects ...runtime.Object) *Run {
	client := fake.NewClientset(objects...)
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a k8stesting.Action) (bool, runtime.Object, error) {
		review := a.(k8stesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		review.Status.Allowed = review.Spec.ResourceAttributes.Verb != denied
		return true, review, nil
	})
	return &Run{Options: o, client: client, name: "plumbline-1"}
}

func amount(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}
}

func node(name, arch, memory string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints},
		Status: corev1.NodeStatus{
			Allocatable: amount("4", memory),
			NodeInfo:    corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: arch},
		},
	}
}

func TestWhatKeepsPartsFromRunningIsSaidBefore(t *testing.T) {
	g := NewWithT(t)
	check := func(r *Run) error { return r.Check(t.Context(), "amd64") }
	o := Options{Parts: 8, Workers: 1}
	control := corev1.Taint{Key: "control-plane", Effect: corev1.TaintEffectNoSchedule}
	g.Expect(check(onCluster(o, "", node("a", "arm64", "8Gi"), node("b", "amd64", "8Gi")))).To(Succeed())
	g.Expect(check(onCluster(o, ""))).To(Succeed(), "nodes may come")
	g.Expect(check(onCluster(o, "", node("a", "arm64", "8Gi")))).
		To(MatchError(ContainSubstring("are linux/arm64; run this")))
	g.Expect(check(onCluster(o, "", node("a", "amd64", "8Gi", control)))).
		To(MatchError(ContainSubstring("no node takes pods")))
	g.Expect(check(onCluster(o, "", node("a", "amd64", "1Gi")))).To(MatchError(
		"a pod with PROCS=1 asks for 1 cpu and 2Gi memory, which no node has: node a has 1Gi memory of 2Gi"))

	g.Expect(check(onCluster(o, "delete", node("a", "arm64", "8Gi")))).To(MatchError(And(
		ContainSubstring("rights are missing:\n  delete jobs.batch\n  delete namespaces"),
		ContainSubstring("linux/arm64"))), "all at once")

	o.Namespace = "team"
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	g.Expect(check(onCluster(o, ""))).To(MatchError(ContainSubstring("NAMESPACE=team: there is none of that name")))
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small", Namespace: "team"}}
	quota.Status.Hard = corev1.ResourceList{
		"requests.cpu": resource.MustParse("10"), "limits.memory": resource.MustParse("64Gi"),
		"secrets": resource.MustParse("1"),
	}
	g.Expect(check(onCluster(o, "", team, quota))).To(Succeed())
	quota.Status.Used = corev1.ResourceList{"requests.cpu": resource.MustParse("3")}
	g.Expect(check(onCluster(o, "", team, quota))).To(MatchError(ContainSubstring(
		"quota small of namespace team is too small for 8 pods at once: 7 requests.cpu of 8; fewer SHARDS")))
}

func TestPodsHaveNoPrivilege(t *testing.T) {
	g := NewWithT(t)
	r := onCluster(Options{
		Parts: 3, Workers: 2, Queue: "tests", Command: []string{"/x", "-y"}, Env: map[string]string{"FOCUS": "^drift/"},
	}, "")
	job := r.job("registry.example/image@sha256:1")
	g.Expect(job.Labels).To(HaveKeyWithValue("kueue.x-k8s.io/queue-name", "tests"))
	g.Expect(*job.Spec.Completions).To(BeEquivalentTo(3))
	pod := job.Spec.Template.Spec
	c := pod.Containers[0]
	g.Expect(c.Args).To(Equal([]string{"part", "--", "/x", "-y"}))
	g.Expect(c.Env).To(Equal([]corev1.EnvVar{{Name: "SHARDS", Value: "3"}, {Name: "FOCUS", Value: "^drift/"}}))
	g.Expect(amounts(c.Resources.Requests)).To(Equal("2 cpu and 3584Mi memory"))
	// What Pod Security's level "restricted" asks for; the cluster checks the rest.
	g.Expect(*pod.SecurityContext.RunAsNonRoot).To(BeTrue())
	g.Expect(*c.SecurityContext.AllowPrivilegeEscalation).To(BeFalse())
	g.Expect(*c.SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
	g.Expect(*pod.AutomountServiceAccountToken).To(BeFalse())
	for _, v := range pod.Volumes {
		g.Expect(v.EmptyDir).NotTo(BeNil(), v.Name)
	}
}

func TestArtifactsTravelWhole(t *testing.T) {
	g := NewWithT(t)
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "part-1")
	g.Expect(os.MkdirAll(filepath.Join(from, "run", "histories"), 0o700)).To(Succeed())
	long := strings.Repeat("x", 1<<20)
	for name, content := range map[string]string{"run/report.json": "{}", "run/histories/a.gz": long} {
		g.Expect(os.WriteFile(filepath.Join(from, name), []byte(content), 0o600)).To(Succeed())
	}
	g.Expect(os.Symlink("run", filepath.Join(from, "latest"))).To(Succeed())
	var archive bytes.Buffer
	g.Expect(pack(&archive, from)).To(Succeed())

	g.Expect(unpack(bytes.NewReader(archive.Bytes()), to)).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(to, "run", "report.json"))).To(BeEquivalentTo("{}"))
	g.Expect(os.ReadFile(filepath.Join(to, "run", "histories", "a.gz"))).To(HaveLen(1 << 20))
	g.Expect(filepath.Join(to, "latest")).NotTo(BeAnExistingFile())
	g.Expect(unpack(bytes.NewReader(archive.Bytes()[:archive.Len()-4]), t.TempDir())).NotTo(Succeed(), "cut off")
}

// pod returns a pod of a part, in a phase.
func pod(name, index string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name),
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
}

func TestWhatBecomesOfPodsIsSaid(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	f := newFollowing(onCluster(Options{Parts: 12, Out: &out}, ""))
	ctx, end := context.WithCancel(t.Context())
	end() // no logs

	waits := pod("a", "0", corev1.PodPending)
	f.see(ctx, waits)
	waits.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: 3 Insufficient memory.",
	}}
	f.see(ctx, waits)
	f.see(ctx, waits) // again, and nothing new
	evicted := pod("b", "9", corev1.PodFailed)
	evicted.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "drained",
	}}
	f.see(ctx, evicted)
	f.gone(evicted, "was deleted")
	killed := pod("c", "1", corev1.PodFailed)
	killed.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
	}}
	f.see(ctx, killed)
	f.see(ctx, pod("not of the Job", "", corev1.PodFailed))
	g.Expect(out.String()).To(Equal(` 1/12 │ · waits: 0/3 nodes are available: 3 Insufficient memory.
10/12 │ · pod b was ended (EvictionByEvictionAPI: drained); its part runs again
 2/12 │ · pod c failed (exit code 137, OOMKilled); its part runs again
`))
}

func TestAPartThatNeverStartsIsNamed(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "plumbline-1", Namespace: "plumbline-1"}}
	f := newFollowing(onCluster(Options{Parts: 2, StartWithin: time.Minute, Queue: "tests", Out: &out}, "", job))
	f.fetched[1], f.moved = true, time.Now().Add(-time.Hour)
	_, err := f.over(t.Context())
	g.Expect(err).To(MatchError("part 2/2 is missing: no pod of it has started within 1m0s"))

	f.running["another"] = 2
	g.Expect(f.over(t.Context())).To(BeFalse())
	delete(f.running, "another")
	g.Expect(f.over(t.Context())).To(BeFalse(), "it has run until just now")

	f.moved, job.Spec.Suspend = time.Now().Add(-time.Hour), new(true)
	_, err = f.client.BatchV1().Jobs(job.Namespace).Update(t.Context(), job, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for range 2 {
		g.Expect(f.over(t.Context())).To(BeFalse(), "it isn't its turn yet")
	}
	g.Expect(out.String()).To(Equal("· waiting for tests to admit the Job\n"))

	f.fetched[2] = true
	g.Expect(f.over(t.Context())).To(BeTrue())
}
