package hostnode

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

func TestLoadRefuses(t *testing.T) {
	g := NewWithT(t)
	i := newImages(t.TempDir())
	_, err := i.load(t.Context(), "./absent")
	g.Expect(err).To(MatchError(ContainSubstring("./absent"))) // in other words where images don't run
	_, err = i.load(t.Context(), BinaryPrefix+"./absent")
	g.Expect(err).To(MatchError(os.ErrNotExist))
	_, err = i.load(t.Context(), BinaryPrefix+"images_test.go")
	g.Expect(err).To(MatchError(ContainSubstring("is no executable file")))
}

func TestPullsOnlyWhatIsNamedByItsDigest(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	img, err := random.Image(100, 1)
	g.Expect(err).NotTo(HaveOccurred())
	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/team/app:v1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.Write(tag, img)).To(Succeed())
	digest, err := img.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	pinned := tag.Name() + "@" + digest.String()

	g.Expect(isRegistryImage(tag.Name())).To(BeFalse())
	g.Expect(isRegistryImage("oci:folder@sha256:0")).To(BeFalse())
	g.Expect(isRegistryImage(pinned)).To(BeTrue())
	i := newImages(t.TempDir())
	g.Expect(i.pull(ctx, pinned)).To(Succeed())
	l, _, err := i.lookup(pinned)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.rootfs).To(BeADirectory())
	server.Close()
	g.Expect(i.pull(ctx, pinned)).To(Succeed(), "it has it")
	absent := tag.Name() + "@sha256:" + strings.Repeat("0", 64)
	g.Expect(i.pull(ctx, absent)).To(MatchError(ContainSubstring(absent)))
}

func TestUserOf(t *testing.T) {
	root := t.TempDir()
	etc := filepath.Join(root, "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"passwd": "root:x:0:0:root:/root:/bin/sh\nnonroot:x:65532:65533:nonroot:/home/nonroot:/sbin/nologin\n",
		"group":  "root:x:0:\nstaff:x:50:\n",
	} {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	id := func(n int64) *int64 { return &n }
	for what, c := range map[string]struct {
		image     string
		pod       *corev1.PodSecurityContext
		container *corev1.SecurityContext
		want      user
		err       string
	}{
		"none":             {"", nil, nil, user{0, 0}, ""},
		"number":           {"1000", nil, nil, user{1000, 0}, ""},
		"number and group": {"1000:staff", nil, nil, user{1000, 50}, ""},
		"name":             {"nonroot", nil, nil, user{65532, 65533}, ""},
		"known number":     {"65532", nil, nil, user{65532, 65533}, ""},
		"unknown name":     {"someone", nil, nil, user{}, `user "someone", which its /etc/passwd does not have`},
		"unknown group":    {"0:some", nil, nil, user{}, `group "some"`},
		"pod":              {"nonroot", &corev1.PodSecurityContext{RunAsUser: id(7)}, nil, user{7, 65533}, ""},
		"container": {
			"", &corev1.PodSecurityContext{RunAsUser: id(7)},
			&corev1.SecurityContext{RunAsUser: id(8), RunAsGroup: id(9)},
			user{8, 9},
			"",
		},
		"root refused": {"", &corev1.PodSecurityContext{RunAsNonRoot: yes()}, nil, user{}, "runAsNonRoot"},
		"root avoided": {"nonroot", nil, &corev1.SecurityContext{RunAsNonRoot: yes()}, user{65532, 65533}, ""},
	} {
		p := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: c.pod}}
		got, err := userOf(p, &corev1.Container{SecurityContext: c.container},
			&loaded{rootfs: root, config: v1.Config{User: c.image}})
		if c.err != "" {
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.err)), what)
			continue
		}
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), what)
		NewWithT(t).Expect(got).To(Equal(c.want), what)
	}
}

func TestCopyTree(t *testing.T) {
	g := NewWithT(t)
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	g.Expect(os.MkdirAll(filepath.Join(src, "etc"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(src, "etc/config"), []byte("old"), 0o640)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(src, "app"), []byte("#!"), 0o755)).To(Succeed())
	g.Expect(os.Symlink("/app", filepath.Join(src, "link"))).To(Succeed())
	g.Expect(copyTree(src, dst)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dst, "etc/config"), []byte("new"), 0o640)).To(Succeed())
	g.Expect(read(t, src, "etc/config")).To(Equal("old"), "the image stays as it is")
	one, err := os.Stat(filepath.Join(src, "app"))
	g.Expect(err).NotTo(HaveOccurred())
	two, err := os.Stat(filepath.Join(dst, "app"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.SameFile(one, two)).To(BeTrue(), "an executable is not copied")
	g.Expect(os.Readlink(filepath.Join(dst, "link"))).To(Equal("/app"))
}
