package install

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/image"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestOnlyAModulesReleaseIsReleased(t *testing.T) {
	g := NewWithT(t)
	built := func(version, folder string) Origin {
		p := &Prepared{
			adapter: &providers.Adapter{
				Source:     providers.Source{Module: "example.com/acme"},
				Controller: providers.Controller{Build: &providers.Build{Module: folder, Package: "./cmd"}},
			},
			values: providers.Values{Version: version}, controller: loadable{built: true},
		}
		return p.Origin(t.Context())
	}
	g.Expect(built("v1.2.3", "")).To(Equal(Origin{Source: "example.com/acme@v1.2.3 ./cmd", Released: true}))
	g.Expect(built("v1.2.4-0.20260819221709-6e7eab7a0f48", "").Released).To(BeFalse(), "a commit")
	g.Expect(built("v1.2.3", "../acme")).To(Equal(Origin{Source: "a folder, ./cmd"}))
}

func TestOnlyAnImageThatARegistryHasIsReleased(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(registry.New())
	defer server.Close()
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/acme:1.2.3")
	g.Expect(err).NotTo(HaveOccurred())
	img, err := random.Image(10, 1)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.Write(ref, img)).To(Succeed())

	origin := func(ref string) Origin { return (&Prepared{controller: loadable{ref: ref}}).Origin(t.Context()) }
	g.Expect(origin(ref.Name())).To(Equal(Origin{Image: ref.Name() + "@" + image.Digest(img), Released: true}))
	missing := ref.Context().Tag("1.2.4").Name()
	g.Expect(origin(missing)).To(Equal(Origin{Image: missing}), "the Docker daemon may have it")
	g.Expect(origin("docker:" + ref.Name()).Released).To(BeFalse())
	g.Expect(origin(t.TempDir()).Released).To(BeFalse(), "an OCI layout")
}
