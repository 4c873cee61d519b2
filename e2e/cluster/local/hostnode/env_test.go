package hostnode

import (
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func yes() *bool { b := true; return &b }

func TestExpand(t *testing.T) {
	for in_, want := range map[string]string{
		"":                  "",
		"plain":             "plain",
		"$(A)":              "one",
		"x$(A)y$(B)z":       "xoneytwoz",
		"$(C)":              "$(C)",
		"$$(A)":             "$(A)",
		"$$$(A)":            "$one",
		"$A":                "$A",
		"cost: 5$":          "cost: 5$",
		"$(A":               "$(A",
		"$()":               "$()",
		"$($(A))":           "$($(A))",
		"$(A)$(A) $$ $(B)$": "oneone $ two$",
	} {
		NewWithT(t).Expect(expand(in_, lookupIn(map[string]string{"A": "one"}, map[string]string{"A": "1", "B": "two"}))).
			To(Equal(want), in_)
	}
}

func examplePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "karpenter-0", Namespace: "kube-system", UID: "u-1",
			Labels:      map[string]string{"app": "karpenter", "a": "b"},
			Annotations: map[string]string{"example.com/key": `say "hi"`},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "karpenter", NodeName: Name,
			Containers: []corev1.Container{{
				Name: "controller",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1500Mi")},
				},
			}, {Name: "bare"}},
		},
	}
}

func TestField(t *testing.T) {
	for path, want := range map[string]string{
		"metadata.name": "karpenter-0", "metadata.namespace": "kube-system", "metadata.uid": "u-1",
		"metadata.labels['app']": "karpenter", "metadata.labels['absent']": "",
		"metadata.annotations['example.com/key']": `say "hi"`,
		"metadata.labels":                         "a=\"b\"\napp=\"karpenter\"", "metadata.annotations": `example.com/key="say \"hi\""`,
		"spec.nodeName": Name, "spec.serviceAccountName": "karpenter", "status.podIP": "127.0.0.1",
		"status.hostIP": "127.0.0.1",
	} {
		got, err := fieldValue(examplePod(), path)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(got).To(Equal(want), path)
	}
	for _, path := range []string{"metadata.generation", "metadata.name['x']", "spec"} {
		_, err := fieldValue(examplePod(), path)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(path)))
	}
}

func TestResourceField(t *testing.T) {
	for _, c := range []struct{ container, resource, divisor, want string }{
		{"controller", "limits.memory", "", "1572864000"},
		{"controller", "limits.memory", "1Gi", "2"}, // rounded up
		{"controller", "limits.cpu", "", "4"},       // the node's, since there is none
		{"controller", "limits.cpu", "1m", "4000"},
		{"controller", "requests.cpu", "", "1"},
		{"controller", "requests.cpu", "1m", "250"},
		{"bare", "requests.cpu", "1m", "0"},
		{"bare", "limits.memory", "1Gi", "8"},
	} {
		ref := &corev1.ResourceFieldSelector{ContainerName: c.container, Resource: c.resource}
		if c.divisor != "" {
			ref.Divisor = resource.MustParse(c.divisor)
		}
		got, err := resourceFieldValue(examplePod(), nil, ref)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(got).To(Equal(c.want), "%+v", c)
	}
	_, err := resourceFieldValue(examplePod(), nil,
		&corev1.ResourceFieldSelector{ContainerName: "absent", Resource: "limits.cpu"})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring(`no container "absent"`)))
}

func fromField(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func fromConfigMap(name, key string, optional *bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: optional,
	}}
}

func fromSecret(name, key string, optional *bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: optional,
	}}
}

// objects returns a client with the objects that the tests' manifests refer to.
func objects() *fake.Clientset {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "kube-system"} }
	return fake.NewClientset(
		&corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"colour": "blue", "size": "9"}},
		&corev1.Secret{ObjectMeta: meta("password"), Data: map[string][]byte{"word": []byte("tidal")}},
	)
}

func TestEnvironment(t *testing.T) {
	settings := corev1.LocalObjectReference{Name: "settings"}
	for what, c := range map[string]struct {
		from []corev1.EnvFromSource
		env  []corev1.EnvVar
		want map[string]string
		err  string
	}{
		"literal, referring to what stands before it only": {
			env: []corev1.EnvVar{
				{Name: "EARLY", Value: "$(LATE)"},
				{Name: "LATE", Value: "x"},
				{Name: "NOW", Value: "$(LATE)"},
			},
			want: map[string]string{"EARLY": "$(LATE)", "LATE": "x", "NOW": "x"},
		},
		"services are known to expansion, and yield": {
			env: []corev1.EnvVar{
				{Name: "URL", Value: "https://$(KUBERNETES_SERVICE_HOST)"},
				{Name: "KUBERNETES_SERVICE_HOST", Value: "elsewhere"},
			},
			want: map[string]string{"URL": "https://127.0.0.1", "KUBERNETES_SERVICE_HOST": "elsewhere"},
		},
		"sources": {
			env: []corev1.EnvVar{{Name: "NS", ValueFrom: fromField("metadata.namespace")}, {
				Name:      "C",
				ValueFrom: fromConfigMap("settings", "colour", nil),
			}, {Name: "W", ValueFrom: fromSecret("password", "word", nil)}},
			want: map[string]string{"NS": "kube-system", "C": "blue", "W": "tidal"},
		},
		"envFrom with a prefix, overridden by env": {
			from: []corev1.EnvFromSource{{
				Prefix:       "S_",
				ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: settings},
			}},
			env:  []corev1.EnvVar{{Name: "S_size", Value: "10"}},
			want: map[string]string{"S_colour": "blue", "S_size": "10"},
		},
		"optional things that do not exist": {
			from: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}, Optional: yes(),
			}}},
			env: []corev1.EnvVar{
				{Name: "A", ValueFrom: fromConfigMap("absent", "x", yes())},
				{Name: "B", ValueFrom: fromSecret("password", "absent", yes())},
			},
			want: map[string]string{},
		},
		"missing ConfigMap": {
			env: []corev1.EnvVar{{Name: "A", ValueFrom: fromConfigMap("absent", "x", nil)}},
			err: `env A: reading ConfigMap kube-system/absent: configmaps "absent" not found`,
		},
		"missing key": {
			env: []corev1.EnvVar{{Name: "A", ValueFrom: fromSecret("password", "absent", nil)}},
			err: `env A: Secret kube-system/password has no key "absent"`,
		},
		"missing envFrom": {
			from: []corev1.EnvFromSource{
				{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "absent"}}},
			},
			err: "envFrom: reading ConfigMap kube-system/absent",
		},
		"unknown field": {
			env: []corev1.EnvVar{{Name: "A", ValueFrom: fromField("spec.colour")}},
			err: `env A: field "spec.colour" is not known`,
		},
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			known, err := serviceVariables("https://127.0.0.1:6443")
			g.Expect(err).NotTo(HaveOccurred())
			e := environment{
				client: objects(), pod: examplePod(), container: &corev1.Container{EnvFrom: c.from, Env: c.env},
				services: known,
			}
			got, err := e.resolve(t.Context())
			if c.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			for name, value := range known {
				if _, ok := c.want[name]; !ok {
					c.want[name] = value
				}
			}
			g.Expect(got).To(Equal(c.want))
		})
	}
}

func TestServices(t *testing.T) {
	for host, want := range map[string][2]string{
		"https://127.0.0.1:6443": {"127.0.0.1", "6443"}, "https://api.example.com": {"api.example.com", "443"},
		"[::1]:6443": {"::1", "6443"}, "localhost:8443": {"localhost", "8443"},
	} {
		got, err := serviceVariables(host)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect([2]string{got["KUBERNETES_SERVICE_HOST"], got["KUBERNETES_SERVICE_PORT"]}).To(Equal(want), host)
	}
}

func TestMerge(t *testing.T) {
	got := mergeEnv(map[string]string{"PATH": "/bin", "HOME": "/"}, []string{"PATH=/app", "A=image", "B=x=y"},
		map[string]string{"A": "manifest"})
	NewWithT(t).Expect(got).To(Equal([]string{"A=manifest", "B=x=y", "HOME=/", "PATH=/app"}))
}

func TestArguments(t *testing.T) {
	img := &loaded{config: v1.Config{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}}}
	for what, c := range map[string]struct{ command, args, want []string }{
		"image alone":       {nil, nil, []string{"/app", "serve"}},
		"args":              {nil, []string{"-v", "$(A)"}, []string{"/app", "-v", "1"}},
		"command":           {[]string{"/other"}, nil, []string{"/other"}},
		"command and args":  {[]string{"/other"}, []string{"$$(A)"}, []string{"/other", "$(A)"}},
		"unknown reference": {[]string{"$(B)"}, nil, []string{"$(B)"}},
	} {
		got := commandLine(&corev1.Container{Command: c.command, Args: c.args}, img, map[string]string{"A": "1"})
		NewWithT(t).Expect(got).To(Equal(c.want), what)
	}
}
