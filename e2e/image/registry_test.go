package image

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	serve "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	. "github.com/onsi/gomega"
)

func TestInRegistry(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"karpenter", "registry.example/team/karpenter:v1", "registry.example/a@sha256:" +
		strings.Repeat("0", 64)} {
		g.Expect(InRegistry(name)).To(BeTrue(), name)
	}
	for _, name := range []string{
		"", "oci:karpenter", "docker:karpenter", "./karpenter", "karpenter.tar", "testdata",
		"Not A Name",
	} {
		if name == "testdata" { // what lies here comes first, as in Open
			name = t.TempDir()
		}
		g.Expect(InRegistry(name)).To(BeFalse(), name)
	}
}

func TestPushedImagesArePulledByDigest(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	img, err := random.Image(100, 2)
	g.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join(t.TempDir(), "karpenter")
	path, err := layout.Write(dir, empty.Index)
	g.Expect(err).NotTo(HaveOccurred())
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(path.AppendImage(img)).To(Succeed())
	server := httptest.NewServer(serve.New(serve.Logger(log.New(io.Discard, "", 0))))
	host := strings.TrimPrefix(server.URL, "http://")

	g.Expect(MayPush(host + "/team")).To(Succeed())
	pulled, err := Push(ctx, "oci:"+dir, host+"/team/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pulled).To(HavePrefix(host + "/team/plumbline-karpenter:"))
	g.Expect(pulled).To(HaveSuffix("@" + Digest(img)))
	again, err := Open(ctx, pulled)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Digest(again)).To(Equal(Digest(img)))

	tag, _, _ := strings.Cut(pulled, "@")
	g.Expect(Pinned(ctx, tag)).To(Equal(pulled))
	g.Expect(Pinned(ctx, pulled)).To(Equal(pulled), "as it is")
	_, err = Pinned(ctx, host+"/team/absent:v1")
	g.Expect(err).To(MatchError(ContainSubstring("it has no such image")))

	server.Close()
	g.Expect(MayPush(host + "/team")).To(MatchError(ContainSubstring("nothing can be pushed to " + host)))
	_, err = Push(ctx, "oci:"+dir, host+"/team")
	g.Expect(err).To(MatchError(ContainSubstring("pushing image")))
	g.Expect(MayPush("Not A Place")).To(MatchError(ContainSubstring("is no place in a registry")))
}
