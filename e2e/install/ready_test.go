package install

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func pod(status corev1.ContainerStatus, conditions ...corev1.PodCondition) *corev1.Pod {
	status.Name = "controller"
	return &corev1.Pod{Status: corev1.PodStatus{
		PodIP: "127.0.0.1", Conditions: conditions, ContainerStatuses: []corev1.ContainerStatus{status},
	}}
}

func ended(code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func TestJudge(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"creating": {pod(corev1.ContainerStatus{State: waiting("ContainerCreating", "")}), ""},
		"running":  {pod(corev1.ContainerStatus{State: running}), ""},
		"ready": {pod(corev1.ContainerStatus{State: running},
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}), "ready"},
		"exited": {
			pod(corev1.ContainerStatus{State: ended(3)}),
			"its container controller ended with exit code 3: Error",
		},
		"exited well": {
			pod(corev1.ContainerStatus{State: ended(0)}),
			"its container controller ended with exit code 0: Error",
		},
		"panicked": {
			pod(corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 2, Reason: "Error", Message: infoLine + "\npanic: no region\n\ngoroutine 1 [running]:\nmain.main()\n",
			}}}),
			"its container controller ended with exit code 2: Error panic: no region",
		},
		"restarted": {
			pod(corev1.ContainerStatus{State: running, LastTerminationState: ended(1), RestartCount: 1}),
			"its container controller ended with exit code 1: Error",
		},
		"no image": {
			pod(corev1.ContainerStatus{State: waiting("ErrImagePull", "not found")}),
			"its container controller cannot start: ErrImagePull: not found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := NewWithT(t), judge(c.pod)
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(c.want))
		})
	}
}

func TestReadinessURL(t *testing.T) {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
		Path: "/readyz",
		Port: intstr.FromString("http"),
	}}}
	s := &start{Installed: &Installed{container: corev1.Container{
		Name: "controller", ReadinessProbe: probe,
		Ports: []corev1.ContainerPort{{Name: "http-metrics", ContainerPort: 8080}, {Name: "http", ContainerPort: 8081}},
	}}}
	g := NewWithT(t)
	g.Expect(s.readinessURL()).To(BeEmpty(), "there is no pod yet")

	s.pod.Store(pod(corev1.ContainerStatus{State: waiting("ContainerCreating", "")}))
	g.Expect(s.readinessURL()).To(BeEmpty(), "another program may listen on that port")

	s.pod.Store(pod(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}))
	g.Expect(s.readinessURL()).To(Equal("http://127.0.0.1:8081/readyz"))

	elsewhere := s.pod.Load().DeepCopy()
	elsewhere.Status.PodIP = "10.0.0.7"
	s.pod.Store(elsewhere)
	g.Expect(s.readinessURL()).To(BeEmpty(), "a pod's address is not reachable from everywhere")
}
