package install

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestTheInterposerIsAPodWithACA(t *testing.T) {
	g := NewWithT(t)
	ca, err := newAuthority()
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := interposerObjects(providers.Values{Namespace: "ns"}, "image", 6444, ca)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).To(HaveLen(2))
	var pod corev1.Pod
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(objects[1].Object, &pod)).To(Succeed())
	g.Expect(objects[0].GetName()).To(Equal(pod.Spec.Volumes[0].Secret.SecretName))
	g.Expect(pod.Spec.Containers[0].Args).To(Equal([]string{"$(POD_IP):6444"}))
	g.Expect(pod.Spec.ServiceAccountName).To(BeEmpty(), "it has no rights")
}

func TestTheControllerIsRedirectedToTheInterposer(t *testing.T) {
	g := NewWithT(t)
	deployment := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": map[string]any{
		"spec": map[string]any{"containers": []any{
			map[string]any{"name": "sidecar"},
			map[string]any{"name": "controller", "env": []any{map[string]any{"name": "A", "value": "b"}}},
		}},
	}}}}
	m := &manifests{deployment: deployment}
	pod := &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.1.2.3"}}
	g.Expect((&interposer{&simulator{pod: pod, port: 6444}}).redirect(m)).To(Succeed())
	var spec corev1.PodSpec
	found, _, err := unstructured.NestedMap(deployment.Object, "spec", "template", "spec")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(found, &spec)).To(Succeed())
	g.Expect(spec.Containers[0].Env).To(BeEmpty())
	g.Expect(spec.Containers[1].Env).To(Equal([]corev1.EnvVar{
		{Name: "A", Value: "b"},
		{Name: "KUBERNETES_SERVICE_HOST", Value: "10.1.2.3"},
		{Name: "KUBERNETES_SERVICE_PORT", Value: "6444"},
	}))
	g.Expect(spec.Containers[1].VolumeMounts).To(HaveExactElements(HaveField("MountPath", serviceAccountFolder)))
	g.Expect(spec.Volumes).To(HaveExactElements(HaveField("Projected.Sources", HaveLen(3))))

	var none *interposer
	before := deployment.DeepCopy()
	g.Expect(none.redirect(m)).To(Succeed())
	g.Expect(deployment).To(Equal(before))
}
