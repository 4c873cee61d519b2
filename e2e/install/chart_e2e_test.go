//go:build e2e

package install

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/providers"
)

// crd returns the manifest of a CRD.
func crd(plural, group, kind string) string {
	return fmt.Sprintf("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"+
		"metadata: {name: %[1]s.%[2]s}\n"+
		"spec:\n  {group: %[2]s, scope: Cluster, names: {kind: %[3]s, plural: %[1]s}, versions: [{name: v1, served: true,\n"+
		"    storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n", plural, group, kind)
}

// published holds a chart as a folder and as an archive, and what helps to publish it.
type published struct {
	folder, archive string
	helm            *helm
	cache           *build.Cache
}

// publish packs a chart with a controller, the NodeClass's CRD in its folder crds, and
// Karpenter's CRDs among its templates.
func publish(t *testing.T) published {
	t.Helper()
	g := NewWithT(t)
	user, err := build.Open(func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	write(t, dir, "acme/Chart.yaml", "apiVersion: v2\nname: acme\nversion: 1.2.3\n")
	write(t, dir, "acme/templates/deployment.yaml", rendered)
	write(t, dir, "acme/templates/crds.yaml",
		crd("nodeclaims", "karpenter.sh", "NodeClaim")+crd("nodepools", "karpenter.sh", "NodePool"))
	write(t, dir, "acme/crds/acme.yaml", crd("acmenodeclasses", "acme.example", "AcmeNodeClass"))
	helm, err := newHelm(t.Context(), user)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = helm.run(t.Context(), nil, nil, "package", filepath.Join(dir, "acme"), "--destination", dir)
	g.Expect(err).NotTo(HaveOccurred())
	return published{
		folder: filepath.Join(dir, "acme"), archive: filepath.Join(dir, "acme-1.2.3.tgz"), helm: helm,
		cache: &build.Cache{Dir: t.TempDir()},
	}
}

// prepared runs the steps of Prepare that are about charts and CRDs.
func (c published) prepared(t *testing.T, chart providers.Chart, crds ...providers.CRDs) (*Prepared, error) {
	t.Helper()
	a := &providers.Adapter{
		Name: "acme", Controller: providers.Controller{Image: "x", Chart: &chart}, CRDs: crds,
		NodeClass: providers.Object{Inline: map[string]any{"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass"}},
	}
	p := &Prepared{adapter: a, values: a.SampleValues("v1.2.3"), helm: c.helm}
	if err := p.findChart(t.Context(), c.cache, Selection{}); err != nil {
		return p, err
	}
	if err := p.readCRDs(t.Context(), c.cache, Selection{}); err != nil {
		return p, err
	}
	return p, p.tryManifests(t.Context(), c.cache, Selection{})
}

func TestChartsOfEveryKind(t *testing.T) {
	g := NewWithT(t)
	c := publish(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	oci := strings.Replace(server.URL, "http://", "oci://", 1) + "/charts"
	_, err := c.helm.run(t.Context(), nil, nil, "push", c.archive, oci, "--plain-http")
	g.Expect(err).NotTo(HaveOccurred())
	repository := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(c.archive))))
	defer repository.Close()
	_, err = c.helm.run(t.Context(), nil, nil, "repo", "index", filepath.Dir(c.archive), "--url", repository.URL)
	g.Expect(err).NotTo(HaveOccurred())

	for name, chart := range map[string]providers.Chart{
		"a folder":                    {Path: c.folder},
		"an archive":                  {Path: c.archive},
		"of a registry":               {Path: oci + "/acme", Version: "{{slice .Version 1}}"},
		"of a repository":             {Path: repository.URL + "/acme", Version: "1.2.3"},
		"the address of a repository": {Path: repository.URL + "/acme-1.2.3.tgz"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p, err := c.prepared(t, chart, providers.CRDs{Path: "$chart"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.crds).To(HaveLen(3))
			p, err = c.prepared(t, providers.Chart{Path: c.folder}, providers.CRDs{Chart: chart.Path, Version: chart.Version})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.crds).To(HaveLen(3), "as those of another chart")
		})
	}

	server.Close()
	repository.Close()
	_, err = c.prepared(t, providers.Chart{Path: oci + "/acme", Version: "1.2.3"}, providers.CRDs{Path: "$chart"})
	g.Expect(err).NotTo(HaveOccurred(), "it is in the cache")
	left, err := filepath.Glob(filepath.Join(c.cache.Dir, "charts", "unfinished-*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
	_, err = c.prepared(t, providers.Chart{Path: oci + "/acme", Version: "9.9.9"})
	g.Expect(err).To(MatchError(ContainSubstring("can't be reached; it is needed the first time only")))
}

func TestChartsThatCanNotBeHad(t *testing.T) {
	c := publish(t)
	empty := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer empty.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer refusing.Close()
	source := t.TempDir()
	write(t, source, "charts/karpenter/Chart.yaml", "")
	for chart, want := range map[string]string{
		strings.Replace(empty.URL, "http", "oci", 1) + "/charts/acme": "has no such chart, or not in this version",
		empty.URL + "/acme": "has no such chart, or not in this version",
		strings.Replace(refusing.URL, "http", "oci", 1) + "/charts/acme": "refuses to give it, or has no such chart; " +
			"`docker login 127.0.0.1:",
		refusing.URL + "/acme": "refuses to give it",
		"$source/chart/karpenter": "there is no $source/chart/karpenter; the charts in example.com/acme@v1.2.3 are " +
			"$source/charts/karpenter",
	} {
		g := NewWithT(t)
		a := &providers.Adapter{Source: providers.Source{Module: "example.com/acme"}}
		p := &Prepared{adapter: a, values: a.SampleValues("v1.2.3"), helm: c.helm, source: source}
		_, err := p.locateChart(t.Context(), c.cache, chart, "1.2.3")
		g.Expect(err).To(MatchError(ContainSubstring(want)), chart)
		t.Log(err)
	}
}

// What `docker login` saves is used.
func TestARegistryThatAsksForCredentials(t *testing.T) {
	g := NewWithT(t)
	c := publish(t)
	held := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "me" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="acme"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		held.ServeHTTP(w, r)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	chart := providers.Chart{Path: "oci://" + host + "/charts/acme", Version: "1.2.3"}
	docker := t.TempDir()
	t.Setenv("DOCKER_CONFIG", docker)
	_, err := c.prepared(t, chart, providers.CRDs{Path: "$chart"})
	g.Expect(err).To(MatchError(ContainSubstring("`docker login " + host + "`")))
	write(t, docker, "config.json", fmt.Sprintf(`{"auths": {%q: {"auth": "bWU6c2VjcmV0"}}}`, host))
	_, err = c.helm.run(t.Context(), os.Environ(), nil, "push", c.archive, "oci://"+host+"/charts", "--plain-http")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.prepared(t, chart, providers.CRDs{Path: "$chart"})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestCRDsThatAreNotTheProviders(t *testing.T) {
	g := NewWithT(t)
	c := publish(t)
	dir := t.TempDir()
	write(t, dir, "bare/Chart.yaml", "apiVersion: v2\nname: bare\nversion: 1.0.0\n")
	write(t, dir, "other/other.yaml", crd("othernodeclasses", "other.example", "OtherNodeClass"))
	write(t, dir, "acme/acme.yaml", crd("acmenodeclasses", "acme.example", "AcmeNodeClass"))
	write(t, dir, "none/none.yaml", "")
	for want, crds := range map[string]providers.CRDs{
		"crds[0]: the chart " + dir + "/bare has no CRDs, neither in its folder crds nor among its templates": {
			Chart: filepath.Join(dir, "bare"),
		},
		"crds: no CRD is that of nodeClass, which is a AcmeNodeClass of acme.example; there are " +
			"othernodeclasses.other.example in " + dir + "/other: are these the CRDs of another provider": {
			Path: filepath.Join(dir, "other"),
		},
		"crds: there is no CRD nodeclaims.karpenter.sh in " + dir + "/acme, only acmenodeclasses.acme.example": {
			Path: filepath.Join(dir, "acme"),
		},
		"crds: there is no CRD in " + dir + "/none": {Path: filepath.Join(dir, "none")},
	} {
		_, err := c.prepared(t, providers.Chart{Path: c.folder}, crds)
		g.Expect(err).To(MatchError(HavePrefix(want)))
	}
}

// What is cheap comes first: a wrong chart is told before anything is compiled.
func TestAWrongChartIsToldBeforeABuild(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/acme\n\ngo 1.24\n")
	write(t, dir, "main.go", "package main\n\nfunc main() { it does not compile }\n")
	write(t, dir, "chart/Chart.yaml", "apiVersion: v2\nname: acme\nversion: 1.2.3\n")
	write(t, dir, "crds.yaml", crd("nodeclaims", "karpenter.sh", "NodeClaim")+crd("nodepools", "karpenter.sh", "NodePool")+
		crd("acmenodeclasses", "acme.example", "AcmeNodeClass"))
	cache, err := build.Open(nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Prepare(t.Context(), cache, &providers.Adapter{
		Name: "acme", Core: "v1.15.0", Dir: dir, CRDs: []providers.CRDs{{Path: "crds.yaml"}},
		Controller: providers.Controller{
			Build: &providers.Build{Module: ".", Package: "."}, Chart: &providers.Chart{Path: "chart"},
		},
		NodeClass: providers.Object{Inline: map[string]any{"apiVersion": "acme.example/v1", "kind": "AcmeNodeClass"}},
	}, Selection{})
	g.Expect(err).To(MatchError(ContainSubstring("no Deployment is among the 0 manifests")))
}
