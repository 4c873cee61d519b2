package image_test

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

func TestFromBinary(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	g.Expect(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600)).To(Succeed())
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "controller"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH, "GOFLAGS=")
	out, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))

	make := func(to string, env ...string) v1.Image {
		ref, err := image.FromBinary(t.Context(), filepath.Join(dir, to), filepath.Join(dir, "controller"), env, "65532")
		g.Expect(err).NotTo(HaveOccurred())
		img, err := image.Open(t.Context(), ref)
		g.Expect(err).NotTo(HaveOccurred())
		return img
	}
	one, same, different := make("one", "A=1"), make("same", "A=1"), make("different", "A=2")
	g.Expect(os.Chtimes(filepath.Join(dir, "controller"), time.Unix(1, 0), time.Unix(1, 0))).To(Succeed())
	again := make("one", "A=1") // later, and over the first
	g.Expect(image.Digest(one)).NotTo(BeEmpty())
	g.Expect(image.Digest(same)).To(Equal(image.Digest(one)))
	g.Expect(image.Digest(again)).To(Equal(image.Digest(one)))
	g.Expect(image.Digest(different)).NotTo(Equal(image.Digest(one)))

	config, err := one.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Config.Entrypoint).To(Equal([]string{"/controller"}))
	g.Expect(config.Config.Env).To(Equal([]string{"A=1"}))
	g.Expect(config.Config.User).To(Equal("65532"))
	g.Expect(config.Architecture).To(Equal(runtime.GOARCH))
	want, err := os.ReadFile(filepath.Join(dir, "controller"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sha256.Sum256([]byte(content(t, again, "controller")))).To(Equal(sha256.Sum256(want)))
	left, err := filepath.Glob(filepath.Join(dir, ".*-*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty(), "nothing unfinished stays")

	_, err = image.FromBinary(t.Context(), filepath.Join(dir, "no"), source, nil, "")
	g.Expect(err).To(MatchError(ContainSubstring("is no Linux executable")))
	_, err = image.FromBinary(t.Context(), filepath.Join(dir, "no"), filepath.Join(dir, "absent"), nil, "")
	g.Expect(err).To(MatchError(os.ErrNotExist))
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err == nil {
		dynamic, err := exec.LookPath("ls")
		g.Expect(err).NotTo(HaveOccurred())
		_, err = image.FromBinary(t.Context(), filepath.Join(dir, "no"), dynamic, nil, "")
		g.Expect(err).To(MatchError(ContainSubstring("dynamically linked")))
	}
}
