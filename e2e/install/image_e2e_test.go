//go:build e2e

package install

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/image"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The image is like those of released providers. Later layers remove files of earlier ones,
// links lead to the entrypoint, the user isn't root, and the registry requires a password.
func TestAnImageOfManyLayersFromARegistryWithAPassword(t *testing.T) {
	g := NewWithT(t)
	a := providers.Named("kwok")
	layered := layeredImage(t, a)
	ref := privateRegistry(t) + "/karpenter:1.15"
	parsed, err := name.ParseReference(ref)
	g.Expect(err).NotTo(HaveOccurred())

	cache, err := build.Open(func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	selection := Selection{Image: ref, Kubernetes: kubernetesVersion}
	_, err = Prepare(t.Context(), cache, a, selection)
	g.Expect(err).To(MatchError(ContainSubstring("docker login")), "no password yet")

	login(t, parsed.Context().RegistryStr())
	_, err = Prepare(t.Context(), cache, a, selection)
	g.Expect(err).To(MatchError(ContainSubstring("it has no such image")), "nothing was pushed yet")

	g.Expect(remote.Write(parsed, layered, remote.WithAuthFromKeychain(authn.DefaultKeychain))).To(Succeed())
	i, c, err := installSelected(t, a, selection)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i.Digest).To(Equal(image.Digest(layered)))
	log, err := c.PodLog(t.Context(), i.Namespace, i.Pods(t.Context())[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(i.Unexpected(lines(t, log))).To(BeEmpty())
}

// The error shows the output of an image that holds another program than a provider.
func TestAnImageThatIsNoProvider(t *testing.T) {
	g := NewWithT(t)
	cache, err := build.Open(func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	dir, err := cache.PinnedFor(t.Context(), "kwok", "linux")
	g.Expect(err).NotTo(HaveOccurred())
	ref, err := image.FromBinary(t.Context(), filepath.Join(t.TempDir(), "image"), filepath.Join(dir, "kwokctl"),
		nil, imageUser)
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = installSelected(t, providers.Named("kwok"), Selection{Image: ref, Kubernetes: kubernetesVersion})
	g.Expect(err).To(MatchError(And(ContainSubstring("its container controller ended with exit code 0"),
		ContainSubstring("Run etcdctl in cluster"))))
}

// layeredImage returns the provider's own image with one layer beneath it and one above.
func layeredImage(t *testing.T, a *providers.Adapter) v1.Image {
	t.Helper()
	g := NewWithT(t)
	cache, err := build.Open(func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	p, err := Prepare(t.Context(), cache, a, Selection{Kubernetes: kubernetesVersion})
	g.Expect(err).NotTo(HaveOccurred())
	plain, err := image.Open(t.Context(), p.controller.ref)
	g.Expect(err).NotTo(HaveOccurred())
	config, err := plain.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	program := config.Config.Entrypoint[0]

	layers, err := plain.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	beneath := layer(t, map[string]string{
		"usr/": "", "usr/bin/": "", "bin": "-> usr/bin", "app/": "",
		"app/karpenter": "an old release", "etc/": "", "etc/passwd": "nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n",
	})
	above := layer(t, map[string]string{"app/.wh.karpenter": "", "usr/bin/karpenter": "-> ../.." + program})
	blank, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: config.OS, Architecture: config.Architecture})
	g.Expect(err).NotTo(HaveOccurred())
	img, err := mutate.AppendLayers(blank, append([]v1.Layer{beneath}, append(layers, above)...)...)
	g.Expect(err).NotTo(HaveOccurred())
	img, err = mutate.Config(img, v1.Config{
		Entrypoint: []string{"/bin/karpenter"}, WorkingDir: "/app", User: "65532:65532", Env: []string{"PATH=/usr/bin:/bin"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	return img
}

// layer returns a layer of files. Names of folders end with "/". Links are "->" and a target.
func layer(t *testing.T, files map[string]string) v1.Layer {
	t.Helper()
	g := NewWithT(t)
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: path, Mode: 0o755}
		text := files[path]
		if target, is := strings.CutPrefix(text, "-> "); is {
			h.Typeflag, h.Linkname, text = tar.TypeSymlink, target, ""
		} else if strings.HasSuffix(path, "/") {
			h.Typeflag = tar.TypeDir
		}
		h.Size = int64(len(text))
		g.Expect(w.WriteHeader(h)).To(Succeed())
		_, err := io.WriteString(w, text)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(w.Close()).To(Succeed())
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	return l
}

const registryUser, registryPassword = "somebody", "with a secret"

// privateRegistry starts a registry on loopback with a password, and returns its host:port.
func privateRegistry(t *testing.T) string {
	t.Helper()
	images := registry.New()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != registryUser || password != registryPassword {
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // not the user's
	return strings.TrimPrefix(server.URL, "http://")
}

// login writes the same file as `docker login`.
func login(t *testing.T, host string) {
	t.Helper()
	text := fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":%q}}}`, host, registryUser, registryPassword)
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
