//go:build e2e

package hostnode_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/local/hostnode"
)

func TestNodeIsReadyAndStaysSo(t *testing.T) {
	w := start(t)
	t.Logf("isolation: %s", w.node.Isolation())
	ready := func() bool {
		n, err := w.client.CoreV1().Nodes().Get(w.ctx, hostnode.Name, metav1.GetOptions{})
		w.Expect(err).NotTo(HaveOccurred())
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status == corev1.ConditionTrue && len(n.Spec.Taints) == 1
			}
		}
		return false
	}
	at := time.Now()
	w.Eventually(ready).Should(BeTrue(), "and only the taint of the host node is left")
	t.Logf("without other taints after %s", time.Since(at).Round(time.Millisecond))
	w.Consistently(ready, 3*time.Second).Should(BeTrue())

	n, err := w.client.CoreV1().Nodes().Get(w.ctx, hostnode.Name, metav1.GetOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	_, err = w.client.CoreV1().Nodes().UpdateStatus(w.ctx, n, metav1.UpdateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	at = time.Now()
	w.Eventually(ready, time.Minute).Should(BeTrue(), "after someone called it dead")
	t.Logf("ready again after %s", time.Since(at).Round(time.Millisecond))
}

func TestProcessSeesWhatItsManifestSays(t *testing.T) {
	w := start(t)
	core := w.client.CoreV1()
	_, err := core.ConfigMaps(w.namespace).Create(w.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings"},
		Data:       map[string]string{"colour": "blue"},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = core.Secrets(w.namespace).Create(w.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "password"},
		StringData: map[string]string{"word": "tidal"},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())

	w.pod("sees", func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		c.Env = []corev1.EnvVar{
			{Name: "TWICE", Value: "manifest"},
			{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "JOINED", Value: "$(NAME)/$(MISSING)/$$(NAME)"},
			{Name: "MEMORY", ValueFrom: &corev1.EnvVarSource{
				ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")},
			}},
			{
				Name:      "CPU",
				ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}},
			},
			{Name: "WORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "password"}, Key: "word",
			}}},
		}
		c.VolumeMounts = []corev1.VolumeMount{
			{Name: "settings", MountPath: "/etc/settings"},
			{Name: "work", MountPath: "/work"},
		}
		p.Spec.Volumes = []corev1.Volume{
			{Name: "settings", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}},
			}},
			{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		}
		p.Spec.InitContainers = []corev1.Container{{Name: "first", Image: w.image, Args: []string{"say=first"}}}
	}, "env=FROM_IMAGE", "env=TWICE", "env=JOINED", "env=MEMORY", "env=CPU", "env=WORD", "env=KUBECONFIG",
		"cat=/etc/settings/colour", "write=/work/left:behind", "cat=/work/left", "whoami", "ls=/*", "write=/tmp/x:y",
		"cat=/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	w.Eventually(w.phase("sees")).Should(Equal(corev1.PodSucceeded), func() string { return describe(w.get("sees")()) })
	log := w.log("sees")
	t.Log(log)
	for _, line := range []string{
		"FROM_IMAGE=yes", "TWICE=manifest", "JOINED=sees/$(MISSING)/$(NAME)", "MEMORY=1024", "CPU=4", "WORD=tidal",
		"/etc/settings/colour: blue", "/work/left: behind", "uid=65532 gid=65532", "/serviceaccount/namespace: " +
			w.namespace,
	} {
		w.Expect(log).To(ContainSubstring(line))
	}
	w.Expect(log).NotTo(ContainSubstring("/home"), "the root is the image's")
}

func TestMissingPermissionsShow(t *testing.T) {
	w := start(t)
	path := "/api/v1/namespaces/" + w.namespace + "/configmaps"
	w.pod("without", nil, "get="+path)
	w.Eventually(w.phase("without")).Should(Equal(corev1.PodSucceeded), func() string {
		return describe(w.get("without")())
	})
	w.Expect(w.log("without")).To(ContainSubstring("configmaps 403"))

	rbac := w.client.RbacV1()
	_, err := rbac.Roles(w.namespace).Create(w.ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"configmaps"},
			Verbs: []string{"list"},
		}},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = rbac.RoleBindings(w.namespace).Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: w.namespace}},
	}, metav1.CreateOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.pod("with", nil, "sleep=500ms", "get="+path)
	w.Eventually(w.phase("with")).Should(Equal(corev1.PodSucceeded))
	w.Expect(w.log("with")).To(ContainSubstring("configmaps 200"))
}

func TestCrashesRestartWithBackOffAndAreCounted(t *testing.T) {
	w := start(t)
	w.pod("crashes", func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}, "say=about to fail", "exit=7")
	w.Eventually(func() string {
		s := w.get("crashes")().Status.ContainerStatuses
		if len(s) == 0 || s[0].State.Waiting == nil {
			return ""
		}
		return fmt.Sprintf("%s %d", s[0].State.Waiting.Reason, s[0].RestartCount)
	}).Should(Equal("CrashLoopBackOff 1"))
	p := w.get("crashes")()
	w.Expect(p.Status.Phase).To(Equal(corev1.PodRunning))
	last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated
	w.Expect(last.ExitCode).To(BeEquivalentTo(7))
	w.Expect(last.Message).To(Equal("about to fail"))
	w.Eventually(func() int32 {
		return w.get("crashes")().Status.ContainerStatuses[0].RestartCount
	}).Should(BeEquivalentTo(3))
	w.Expect(strings.Count(w.log("crashes"), "about to fail")).To(BeNumerically(">=", 3), "the log goes on over restarts")
}

func TestProbesDecide(t *testing.T) {
	w := start(t)
	w.pod("probed", func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
		c := &p.Spec.Containers[0]
		c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 18391}}
		get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}
		c.StartupProbe = &corev1.Probe{ProbeHandler: get, PeriodSeconds: 1, FailureThreshold: 5}
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: get, PeriodSeconds: 1, FailureThreshold: 1}
		alive := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/livez", Port: intstr.FromInt32(18391)}}
		c.LivenessProbe = &corev1.Probe{ProbeHandler: alive, PeriodSeconds: 1, FailureThreshold: 1}
	}, "serve=18391")
	ready := func() bool {
		p := w.get("probed")()
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue && c.Reason == ""
			}
		}
		return false
	}
	w.Eventually(ready).Should(BeTrue(), func() string { return describe(w.get("probed")()) })
	sicken(w, "http://127.0.0.1:18391/sicken")
	w.Eventually(ready).Should(BeFalse())
	w.Expect(w.get("probed")().Status.ContainerStatuses[0].RestartCount).To(BeZero(), "readiness restarts nothing")
}

func TestLivenessRestarts(t *testing.T) {
	w := start(t)
	w.pod("sickens", func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
		p.Spec.Containers[0].LivenessProbe = &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/livez", Port: intstr.FromInt32(18392)}},
			PeriodSeconds: 1, FailureThreshold: 2,
		}
	}, "patient")
	w.Eventually(func() int32 {
		s := w.get("sickens")().Status.ContainerStatuses
		if len(s) == 0 {
			return 0
		}
		return s[0].RestartCount
	}).Should(BeNumerically(">=", 1))
	last := w.get("sickens")().Status.ContainerStatuses[0].LastTerminationState.Terminated
	w.Expect(last.Message).To(And(HavePrefix("liveness probe failed: "), ContainSubstring("connection refused")))
	w.Expect(w.log("sickens")).To(ContainSubstring("bye"), "it was asked first")
}

func TestDeletionAsksThenKills(t *testing.T) {
	w := start(t)
	for _, name := range []string{"patient", "stubborn"} {
		w.pod(name, nil, name)
		w.Eventually(w.phase(name)).Should(Equal(corev1.PodRunning))
		w.Eventually(func() string { return w.log(name) }).Should(ContainSubstring(name))
		grace := int64(2)
		at := time.Now()
		w.Expect(w.client.CoreV1().Pods(w.namespace).Delete(w.ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &grace})).
			To(Succeed())
		w.Eventually(func() bool {
			_, err := w.client.CoreV1().Pods(w.namespace).Get(w.ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).Should(BeTrue())
		t.Logf("%s gone after %s", name, time.Since(at).Round(time.Millisecond))
		if name == "stubborn" {
			w.Expect(time.Since(at)).To(BeNumerically(">=", 2*time.Second))
		} else {
			w.Expect(time.Since(at)).To(BeNumerically("<", 2*time.Second))
			w.Expect(w.log(name)).To(ContainSubstring("bye"))
		}
	}
}

func TestWhatCannotRunSaysWhy(t *testing.T) {
	w := start(t)
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"noimage": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Image = "nowhere/nothing:1"
		}, "ErrImagePull: image \"nowhere/nothing:1\" is not loaded on this node"},
		"hostpath": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{
				Name:         "host",
				VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}},
			}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "host", MountPath: "/host"}}
		}, "CreateContainerConfigError: container main: volume \"host\": hostPath /etc is refused"},
		"nosecret": {func(p *corev1.Pod) {
			p.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}}},
			}
		}, "CreateContainerConfigError: envFrom: reading Secret"},
		"noprogram": {func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"bash"} }, "has no executable \"bash\""},
	} {
		w.pod(name, c.change, "say=hi")
		w.Eventually(func() string { return describe(w.get(name)()) }).Should(ContainSubstring(c.want))
	}
}

func TestKubectlLogs(t *testing.T) {
	w := start(t)
	w.pod("talks", nil, "say=one", "say=two", "say=three", "sleep=4s", "say=four")
	w.Eventually(w.phase("talks")).Should(Equal(corev1.PodRunning))
	w.Eventually(func() string { return w.log("talks") }).Should(ContainSubstring("three"))
	kubectl := func(args ...string) string {
		out, err := exec.CommandContext(w.ctx, "kubectl", append([]string{"logs", "-n", w.namespace, "talks"}, args...)...).
			CombinedOutput()
		w.Expect(err).NotTo(HaveOccurred(), string(out))
		return string(out)
	}
	w.Expect(kubectl("--tail=2")).To(Equal("two\nthree\n"))
	at := time.Now()
	w.Expect(kubectl("-f")).To(Equal("one\ntwo\nthree\nfour\n"))
	t.Logf("follow ended after %s", time.Since(at))
}
