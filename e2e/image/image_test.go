package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// made returns an image for an architecture, with layers of entries.
func made(t *testing.T, arch string, layers ...[]entry) v1.Image {
	t.Helper()
	img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: arch})
	if err != nil {
		t.Fatal(err)
	}
	for _, entries := range layers {
		data := archive(t, entries)
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data)), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if img, err = mutate.AppendLayers(img, layer); err != nil {
			t.Fatal(err)
		}
	}
	return img
}

// entry is a file of a layer: a folder if its name ends with "/", a link if it has a target.
type entry struct{ name, content, symlink, hardlink string }

func archive(t *testing.T, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(e.content))}
		switch {
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o555
		case e.symlink != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.symlink
		case e.hardlink != "":
			h.Typeflag, h.Linkname = tar.TypeLink, e.hardlink
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hello(t *testing.T, arch string) v1.Image {
	return made(t, arch, []entry{{name: "hello", content: "from " + arch}})
}

// other returns an architecture other than this machine's.
func other() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

// both returns an index with an image for each architecture and an attestation.
func both(t *testing.T) v1.ImageIndex {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for os, archs := range map[string][]string{"linux": {"amd64", "arm64"}, "unknown": {"unknown"}} {
		for _, arch := range archs {
			index = mutate.AppendManifests(index, mutate.IndexAddendum{
				Add: hello(t, arch), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: os, Architecture: arch}},
			})
		}
	}
	return index
}

func content(t *testing.T, img v1.Image, file string) string {
	t.Helper()
	dir := t.TempDir()
	if err := image.Unpack(t.Context(), img, dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func pack(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOpenFindsEveryForm(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "layout")
	if _, err := layout.Write(folder, both(t)); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(dir, "saved.tar")
	tag, _ := name.NewTag("saved:latest")
	if err := tarball.WriteToFile(saved, tag, hello(t, runtime.GOARCH)); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain.tar")
	zipped := filepath.Join(dir, "zipped")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(pack(t, folder))
	_ = w.Close()
	for file, data := range map[string][]byte{plain: pack(t, folder), zipped: z.Bytes()} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	ref, err := name.ParseReference(host + "/some/app:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, both(t)); err != nil {
		t.Fatal(err)
	}

	for form, ref := range map[string]string{
		"layout": folder, "layout by prefix": "oci:" + folder, "docker save": saved,
		"layout in a tar": plain, "layout in a gzipped tar": zipped, "registry": ref.String(),
	} {
		t.Run(form, func(t *testing.T) {
			g := NewWithT(t)
			img, err := image.Open(t.Context(), ref)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(content(t, img, "hello")).To(Equal("from " + runtime.GOARCH))
			g.Expect(image.Digest(img)).To(HavePrefix("sha256:"))
		})
	}
}

func TestOpenRefusesReadably(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no docker command
	dir := t.TempDir()
	wrongOne := filepath.Join(dir, "one")
	if p, err := layout.Write(wrongOne, empty.Index); err != nil || p.AppendImage(hello(t, other())) != nil {
		t.Fatal(err)
	}
	attested := filepath.Join(dir, "attested")
	if _, err := layout.Write(attested, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: hello(t, "unknown"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}},
	})); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(dir, "saved.tar")
	tag, _ := name.NewTag("saved:latest")
	if err := tarball.WriteToFile(saved, tag, hello(t, other())); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.tar")
	if err := os.WriteFile(text, []byte("this is no tar archive at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := httptest.NewServer(registry.New())
	t.Cleanup(none.Close)
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(closed.Close)
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

	for what, c := range map[string]struct {
		ref  string
		want []string
	}{
		"empty":           {"", []string{"the reference is empty"}},
		"no such file":    {"./nothing", []string{"./nothing", "no such file"}},
		"no such archive": {"build/provider.tar", []string{"no such file"}},
		"plain folder":    {t.TempDir(), []string{"no OCI layout", "index.json"}},
		"no archive":      {text, []string{"not a tar archive"}},
		"no name":         {"Not A Name", []string{"no such file or folder", "could not parse reference"}},
		"no docker":       {"docker:app", []string{"there is no docker command"}},
		"absent": {
			host(none) + "/app:1",
			[]string{"file or folder: there is no", "no such image", "_UNKNOWN", "docker: there is no docker command"},
		},
		"unauthorized":  {host(closed) + "/app:1", []string{"unauthorized", "docker login"}},
		"wrong layout":  {wrongOne, []string{"has no image for linux/" + runtime.GOARCH + "; it has linux/" + other()}},
		"no image":      {attested, []string{"holds no image"}}, // an attestation is no image
		"wrong archive": {saved, []string{"is for " + other() + ", this machine is " + runtime.GOARCH}},
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			_, err := image.Open(t.Context(), c.ref)
			g.Expect(err).To(HaveOccurred())
			for _, want := range c.want {
				g.Expect(err.Error()).To(ContainSubstring(want))
			}
			g.Expect(err.Error()).To(ContainSubstring(c.ref))
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := image.Open(ctx, strings.TrimPrefix(server.URL, "http://")+"/app:1")
	NewWithT(t).Expect(err).To(MatchError(context.Canceled))
}

func TestCheck(t *testing.T) {
	g := NewWithT(t)
	g.Expect(image.Check(hello(t, "arm64"), "linux", "arm64")).To(Succeed())
	g.Expect(image.Check(hello(t, ""), "linux", "arm64")).To(Succeed())
	g.Expect(image.Check(hello(t, "arm64"), "linux", "amd64")).To(MatchError("is for arm64, this machine is amd64"))
	g.Expect(image.Check(hello(t, "arm64"), "windows", "arm64")).To(MatchError("is for linux, needed is windows"))
}
