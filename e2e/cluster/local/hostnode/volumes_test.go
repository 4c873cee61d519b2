package hostnode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func text(c content) map[string]string {
	all := map[string]string{}
	for name, f := range c {
		all[name] = string(f.data)
	}
	return all
}

// granting answers token requests with new tokens that live for the given time.
func granting(c *fake.Clientset, life time.Duration) (asked *[]*authenticationv1.TokenRequest) {
	asked = &[]*authenticationv1.TokenRequest{}
	c.PrependReactor("create", "serviceaccounts", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := a.(clienttesting.CreateAction)
		if !ok || a.GetSubresource() != "token" {
			return false, nil, nil
		}
		request := create.GetObject().(*authenticationv1.TokenRequest).DeepCopy()
		*asked = append(*asked, request)
		request.Status.Token = "token-" + string(rune('0'+len(*asked)))
		request.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(life))
		return true, request, nil
	})
	return asked
}

func TestVolumesRender(t *testing.T) {
	mode := int32(0o400)
	settings := corev1.LocalObjectReference{Name: "settings"}
	for what, c := range map[string]struct {
		source corev1.VolumeSource
		want   map[string]string
		err    string
	}{
		"configMap": {
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: settings}},
			map[string]string{"colour": "blue", "size": "9"},
			"",
		},
		"items": {
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: settings,
				Items:                []corev1.KeyToPath{{Key: "colour", Path: "deep/er", Mode: &mode}},
			}},
			map[string]string{"deep/er": "blue"},
			"",
		},
		"secret": {
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "password"}},
			map[string]string{"word": "tidal"},
			"",
		},
		"optional": {
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "absent", Optional: yes()}},
			map[string]string{},
			"",
		},
		"missing secret": {
			corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "absent"}},
			nil,
			`volume "v": reading Secret kube-system/absent`,
		},
		"missing item": {
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: settings,
				Items:                []corev1.KeyToPath{{Key: "absent", Path: "x"}},
			}},
			nil, `ConfigMap kube-system/settings has no key "absent"`,
		},
		"downwardAPI": {
			corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
				{Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{
					ContainerName: "controller",
					Resource:      "requests.cpu",
				}},
			}}},
			map[string]string{"name": "karpenter-0", "cpu": "1"},
			"",
		},
		"projected, as the ServiceAccount admission makes it": {
			corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{
					LocalObjectReference: corev1.LocalObjectReference{Name: rootCAName},
					Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
				}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
					Path:     "namespace",
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"},
				}}}},
			}}},
			map[string]string{"token": "token-1", "ca.crt": "the CA", "namespace": "kube-system"},
			"",
		},
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			client := objects()
			granting(client, time.Hour)
			v := newVolumes(environment{client: client, pod: examplePod()}, &tokens{client: client}, []byte("the CA"))
			got, err := v.render(t.Context(), &corev1.Volume{Name: "v", VolumeSource: c.source})
			if c.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text(got)).To(Equal(c.want))
			for name, f := range got {
				g.Expect(f.secret).To(Equal(name == "token"))
			}
		})
	}
}

func TestTokensAreBoundAndRenewed(t *testing.T) {
	g := NewWithT(t)
	client := fake.NewClientset()
	asked := granting(client, time.Hour)
	ts := &tokens{client: client}
	audience := &corev1.ServiceAccountTokenProjection{Audience: "vault"}
	for range 2 {
		token, err := ts.token(t.Context(), examplePod(), &corev1.ServiceAccountTokenProjection{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(token).To(Equal("token-1"), "the same as long as it is good")
	}
	_, err := ts.token(t.Context(), examplePod(), audience)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*asked).To(HaveLen(2))
	g.Expect((*asked)[0].Spec.BoundObjectRef.UID).To(BeEquivalentTo("u-1"))
	g.Expect((*asked)[1].Spec.Audiences).To(Equal([]string{"vault"}))

	for kind, held := range ts.held {
		held.renew = time.Now().Add(-time.Second)
		ts.held[kind] = held
	}
	token, err := ts.token(t.Context(), examplePod(), &corev1.ServiceAccountTokenProjection{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(token).To(Equal("token-3"))
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestMount(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(dir, "etc", "settings"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "etc", "settings", "image"), nil, 0o644)).To(Succeed())
	g.Expect(os.Symlink("/run", filepath.Join(dir, "var"))).To(Succeed())
	box := sandbox{dir: dir, own: true}
	one := content{"a": {data: []byte("1"), mode: 0o640}, "d/b": {data: []byte("2"), mode: 0o644}}

	const settings = "/etc/settings"
	g.Expect(box.mount(settings, one)).To(Succeed())
	g.Expect(read(t, dir, "etc/settings/a")).To(Equal("1"))
	g.Expect(read(t, dir, "etc/settings/d/b")).To(Equal("2"))
	g.Expect(filepath.Join(dir, "etc/settings/image")).NotTo(BeAnExistingFile(), "what the image has there is hidden")
	info, err := os.Stat(filepath.Join(dir, "etc/settings/a"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o640))

	g.Expect(box.mount("/var/token", content{"t": {data: []byte("s"), mode: 0o644, secret: true}})).To(Succeed())
	g.Expect(read(t, dir, "run/token/t")).To(Equal("s"), "through the image's links, inside it")
	info, err = os.Stat(filepath.Join(dir, "run/token/t"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600))

	g.Expect(box.mount("/", one)).NotTo(Succeed())

	two := content{"a": {data: []byte("new"), mode: 0o640}}
	g.Expect(box.refresh(settings, one, two)).To(Succeed())
	g.Expect(read(t, dir, "etc/settings/a")).To(Equal("new"))
	g.Expect(filepath.Join(dir, "etc/settings/d/b")).NotTo(BeAnExistingFile())
}

func TestVolumesOfAPodWithAGroupAreItsUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	g := NewWithT(t)
	box := sandbox{dir: t.TempDir(), own: true, user: user{65532, 65532}, fsGroup: true}
	g.Expect(box.mount("/etc/acme", content{"config": {data: []byte("1"), mode: 0o440}})).To(Succeed())
	info, err := os.Stat(filepath.Join(box.dir, "etc/acme/config"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(fmt.Sprintf("%+v", info.Sys())).To(ContainSubstring("Uid:65532 Gid:65532"))
}

func TestEmptyDirsStayOverRestarts(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	c := &container{pod: &pod{dir: filepath.Join(dir, "pod")}}
	work := corev1.VolumeMount{Name: "work", MountPath: "/work"}
	inner := corev1.VolumeMount{Name: "inner", MountPath: "/work/inner"}
	start := func(name string) sandbox {
		box := sandbox{dir: filepath.Join(dir, name)}
		g.Expect(os.MkdirAll(filepath.Join(box.dir, "work", "image"), 0o755)).To(Succeed())
		g.Expect(c.moveEmptyDir(box, work)).To(Succeed())
		g.Expect(c.moveEmptyDir(box, inner)).To(Succeed())
		return box
	}
	first := start("1")
	g.Expect(filepath.Join(first.dir, "work", "image")).NotTo(BeADirectory(), "what the image has there is hidden")
	info, err := os.Stat(filepath.Join(first.dir, "work"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o777), "any user may write into it")
	g.Expect(os.WriteFile(filepath.Join(first.dir, "work", "left"), []byte("behind"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(first.dir, "work", "inner", "too"), []byte("2"), 0o600)).To(Succeed())

	g.Expect(c.takeEmptyDirsBack()).To(Succeed())
	g.Expect(os.RemoveAll(first.dir)).To(Succeed())
	second := start("2")
	g.Expect(read(t, second.dir, "work/left")).To(Equal("behind"))
	g.Expect(read(t, second.dir, "work/inner/too")).To(Equal("2"))
}

func TestRefuse(t *testing.T) {
	g := NewWithT(t)
	data := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	p := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}},
		{
			Name:         "disk",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "x"}},
		},
		{Name: "data", VolumeSource: data},
		{Name: "work", VolumeSource: empty},
		{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
	}}}
	p.Spec.InitContainers = []corev1.Container{{
		Name: "first",
		VolumeMounts: []corev1.VolumeMount{
			{Name: "host", MountPath: "/h"},
			{Name: "disk", MountPath: "/d"},
			{Name: "work", MountPath: "/w"},
		},
		StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 1}}},
	}}
	p.Spec.Containers = []corev1.Container{{
		Name: "main",
		VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/a", SubPath: "a"},
			{Name: "data", MountPath: "/b", SubPathExpr: "$(B)"},
			{Name: "work", MountPath: "/w"},
		},
		LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}},
	}}
	err := refuse(p)
	for _, want := range []string{
		`container first: volume "host": hostPath /etc is refused`, `container first: volume "disk" is of a kind`,
		"container first: a probe by grpc is not supported", "container main: a probe by exec is not supported",
		"container main: a probe by tcpSocket is not supported on node plumbline-host; ask an HTTP endpoint (httpGet)",
		`container main: volume "data": subPath is not supported on node plumbline-host; mount the whole volume`,
		`container main: volume "work": container first mounts this emptyDir already`,
	} {
		g.Expect(err).To(MatchError(ContainSubstring(want)), "all at once")
	}
	g.Expect(strings.Count(err.Error(), "\n")).To(Equal(7), "and each mount of subPath for itself")

	p.Spec.InitContainers = nil
	p.Spec.Containers = []corev1.Container{{VolumeMounts: []corev1.VolumeMount{
		{Name: "data", MountPath: "/a"},
		{Name: "data", MountPath: "/b"},
		{Name: "work", MountPath: "/w"},
		{Name: "kube-api-access", MountPath: accountDir},
	}}}
	g.Expect(refuse(p)).To(Succeed())
	g.Expect(refuseMounts(&p.Spec.Containers[0], UserNamespace)).To(Succeed())
	g.Expect(refuseMounts(&p.Spec.Containers[0], None)).
		To(MatchError(ContainSubstring(`volume "work" can't be mounted at /w`)))
	p.Spec.Containers[0].VolumeMounts = p.Spec.Containers[0].VolumeMounts[3:]
	g.Expect(refuseMounts(&p.Spec.Containers[0], None)).To(Succeed(), "the service account's token has a place of its own")
}

func TestNothingOfARefusedPodIsStarted(t *testing.T) {
	d := newDesk(t, Options{})
	binary, _ := program()
	d.pod(corev1.RestartPolicyAlways, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "first", Image: d.image, Command: []string{binary, "say=first"}}}
		p.Spec.Containers[0].LivenessProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}},
		}
	}, "say=main")
	d.Eventually(d.main).Should(Equal("CreateContainerConfigError, ready false, restarts 0, Pending"))
	init := d.now().InitContainerStatuses[0].State.Waiting
	d.Expect(init.Message).To(ContainSubstring("container main: a probe by tcpSocket is not supported"),
		"wherever one looks")
	d.Expect(d.log()).NotTo(ContainSubstring("first"))
}
