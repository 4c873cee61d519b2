package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/image"
	"github.com/plumbline-e2e/plumbline/providers"
)

// coreModule is the module of Karpenter core, which every provider links.
const coreModule = "sigs.k8s.io/karpenter"

// plumblineModule is the module that a Build calls $plumbline.
const plumblineModule = "github.com/plumbline-e2e/plumbline"

// imageUser is the numeric user of built images. As in released providers, it isn't root.
const imageUser = "65532"

// Selection says what to use of an adapter. The zero value is the adapter's own.
type Selection struct {
	// Version is the source module's version, such as v1.9.0. Empty: the adapter's.
	Version string
	// Image replaces the adapter's image. It is a reference for image.Open.
	Image string
	// Kubernetes is the cluster's version, such as v1.36.3. Prepare renders the chart for it.
	// Empty: Helm's default.
	Kubernetes string
	// Namespace replaces the adapter's namespace of the controller.
	Namespace string
	// Containers says that the cluster runs images even if this machine's system is not Linux.
	Containers bool
	// Host runs the controller as a program of this machine instead of an image. It is implied
	// without Containers on systems other than Linux, where images can't run.
	Host bool
	// NoBuild says that images and programs are not built. What was prepared so can't be
	// installed. Images that need no build are looked for.
	NoBuild bool
}

// Prepared is a provider that can be installed on any number of clusters.
type Prepared struct {
	adapter    *providers.Adapter
	values     providers.Values // without those of the cluster
	kubernetes string           // see Selection
	source     string           // folder of the source module, empty if there is none
	helm       *Helm            // nil without a chart
	chart      string           // folder or archive of the controller's chart, empty if there is none
	controller loadable
	simulator  loadable // empty without one
	interposer loadable // empty where the cluster has its own, see interpose
	host       bool     // programs of the host run, not images
	core       string
	crds       []*unstructured.Unstructured

	managementCRDs []*unstructured.Unstructured
}

// loadable is an image or a program that a cluster can load.
type loadable struct {
	ref    string // for cluster.Load
	digest string // of the image; empty for a program of the host
	built  bool   // made from source here
}

// Prepare does all that needs no cluster. It validates the adapter, downloads the source module
// and the chart, reads the CRDs, renders the chart, and then builds or opens the images. So
// mistakes are reported early. Downloads and builds stay in the cache. Progress goes to cache.Progress.
func Prepare(ctx context.Context, cache *build.Cache, a *providers.Adapter, s Selection) (*Prepared, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &Prepared{adapter: a, kubernetes: s.Kubernetes, host: s.Host || runtime.GOOS != "linux" && !s.Containers}
	if err := p.checkHost(); err != nil {
		return nil, fmt.Errorf("provider %s: %w", a.Name, err)
	}
	for _, step := range []func(context.Context, *build.Cache, Selection) error{
		p.download, p.findChart, p.readCRDs, p.tryManifests, p.findImages, // what takes minutes comes last
	} {
		if err := step(ctx, cache, s); err != nil {
			return nil, fmt.Errorf("provider %s: %w", a.Name, err)
		}
	}
	return p, nil
}

// checkHost refuses what a program of the host can't have: a root of its own, and so files at
// paths of the adapter's choice.
func (p *Prepared) checkHost() error {
	files := p.adapter.Mounts()
	if !p.host || len(files) == 0 {
		return nil
	}
	return fmt.Errorf("the controller is to run as a program of this machine, which has no files of its own at %s "+
		"(controller.files, simulator.tls, management); use a backend that runs images here",
		strings.Join(files, ", "))
}

// download downloads the source module and finds the release of core that it links.
func (p *Prepared) download(ctx context.Context, cache *build.Cache, s Selection) error {
	a := p.adapter
	local := a.Controller.Build != nil && a.Controller.Build.Module != ""
	if local && s.Version != "" {
		return fmt.Errorf("version %s is asked for, but the adapter builds the controller from the folder %s, as it is",
			s.Version, a.Controller.Build.Module)
	}
	if a.Source.Version == "" && s.Version != "" {
		return fmt.Errorf("version %s is asked for, but the adapter has no `source`", s.Version)
	}
	version, err := p.downloadModule(ctx, cache, cmp.Or(s.Version, a.Source.Version))
	if err != nil {
		return err
	}
	p.values = a.SampleValues(version)
	p.values.Namespace = cmp.Or(s.Namespace, p.values.Namespace)
	p.core = a.Core
	// A commit's version may be no release's, such as v0.0.0-20260819221709-6e7eab7a0f48.
	chosen := s.Version != "" && !module.IsPseudoVersion(version)
	switch {
	case local && a.Core == "":
		p.core, err = linkedCore(a.Files(p.source), path.Join(a.Controller.Build.Module, "go.mod"), version)
	case local:
	case a.Source.Module == coreModule && (a.Core == "" || !module.IsPseudoVersion(version)):
		p.core = version
	case a.Source.Module != "" && a.Source.Module != coreModule && (a.Core == "" || chosen):
		p.core, err = linkedCore(a.Files(p.source), providers.SourcePrefix+"/go.mod", version)
	}
	return err
}

// downloadModule downloads the source module, if there is one, and returns its version: of a
// branch or a commit the one that it stands for.
func (p *Prepared) downloadModule(ctx context.Context, cache *build.Cache, version string) (resolved string,
	err error,
) {
	path := p.adapter.Source.Module
	if path == "" {
		return version, nil
	}
	if resolved, err = cache.Resolve(ctx, path, version); err == nil {
		p.source, err = cache.Module(ctx, path, resolved)
	}
	if errors.Is(err, build.ErrModulePath) {
		err = fmt.Errorf("%w; write the path that its go.mod names, if that has the version, or an image and its chart, or "+
			"clone the repository and write its folder as controller.build.module", err)
	}
	return resolved, err
}

// linkedCore returns the release of core that a provider's go.mod requires. For the go.mod of
// core itself it returns base, the release that the folder is based on.
func linkedCore(files providers.Files, gomod, base string) (string, error) {
	raw, err := files.Read(gomod)
	if err != nil {
		return "", err
	}
	file, err := modfile.ParseLax(gomod, raw, nil)
	if err != nil {
		return "", err
	}
	if file.Module != nil && file.Module.Mod.Path == coreModule && base != "" {
		return base, nil
	}
	for _, r := range file.Require {
		if r.Mod.Path == coreModule {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s; say in the adapter's `core` which release it is built on",
		gomod, coreModule)
}

// findImages builds the images, or checks that the given ones can run here.
func (p *Prepared) findImages(ctx context.Context, cache *build.Cache, s Selection) (err error) {
	a := p.adapter
	given, made := a.Controller.Image, a.Controller.Build
	if s.Image != "" {
		given, made = "", nil
	}
	unbuilt := func(image string) bool { return s.NoBuild && (p.host || image == "") }
	if !unbuilt(given + s.Image) {
		if p.controller, err = p.find(ctx, cache, "controller", given, made, s.Image); err != nil {
			return err
		}
	}
	if s.Containers && !s.NoBuild && !p.host {
		if p.interposer, err = p.find(ctx, cache, "proxy", "", interposerOf.Build, ""); err != nil {
			return err
		}
	}
	if a.Simulator == nil || unbuilt(a.Simulator.Image) {
		return nil
	}
	p.simulator, err = p.find(ctx, cache, "simulator", a.Simulator.Image, a.Simulator.Build, "")
	return err
}

// find returns the image in asked, else the one given in the adapter, else a built one. What
// is the part of the adapter: controller or simulator.
func (p *Prepared) find(ctx context.Context, cache *build.Cache, what, given string, made *providers.Build,
	asked string,
) (l loadable, err error) {
	if p.host {
		return p.findProgram(ctx, cache, what, made)
	}
	switch {
	case asked != "":
		l.ref = asked
	case given != "":
		if l.ref, err = providers.Expand(given, p.values); err != nil {
			return l, err
		}
		if strings.HasPrefix(l.ref, ".") { // a file or folder, relative to the adapter
			if l.ref, err = filepath.Abs(filepath.Join(p.adapter.Dir, l.ref)); err != nil {
				return l, err
			}
		}
	default:
		l.built = true
		if l.ref, err = p.buildImage(ctx, cache, made); err != nil {
			return l, err
		}
	}
	opened, err := image.Open(ctx, l.ref)
	if err != nil {
		return l, err
	}
	if err := image.Check(opened, "linux", runtime.GOARCH); err != nil {
		return l, fmt.Errorf("image %s: %w", l.ref, err)
	}
	l.digest = image.Digest(opened)
	return l, nil
}

// findProgram builds a program for this machine's system.
func (p *Prepared) findProgram(ctx context.Context, cache *build.Cache, what string,
	made *providers.Build,
) (loadable, error) {
	if made == nil {
		return loadable{}, fmt.Errorf("provider %s: images don't run on %s: the %s must be built for it, by `%s.build` in "+
			"the adapter and without IMAGE", p.adapter.Name, runtime.GOOS, what, what)
	}
	binary, err := p.build(ctx, cache, made, runtime.GOOS)
	return loadable{ref: cluster.BinaryPrefix + binary, built: true}, err
}

// build builds a program for an operating system.
func (p *Prepared) build(ctx context.Context, cache *build.Cache, b *providers.Build, goos string) (binary string,
	err error,
) {
	a := p.adapter
	switch b.Module {
	case "":
		return cache.Main(ctx, a.Source.Module, p.values.Version, b.Package, goos, runtime.GOARCH)
	case providers.Plumbline:
		return cache.MainInUse(ctx, plumblineModule, b.Package, goos, runtime.GOARCH)
	default:
		return cache.MainOf(ctx, a.Files("").Folder(b.Module), b.Package, goos, runtime.GOARCH)
	}
}

// buildImage builds a program for this machine's architecture and wraps it in an image.
func (p *Prepared) buildImage(ctx context.Context, cache *build.Cache, b *providers.Build) (ref string, err error) {
	binary, err := p.build(ctx, cache, b, "linux")
	if err != nil {
		return "", err
	}
	// The folder's name covers all inputs of the binary, so the image is never stale.
	ref, err = image.KeptFromBinary(ctx, cache.ImageOf(filepath.Dir(binary)), binary, imageUser)
	return ref, cache.Explain(ctx, "image", "200 MB", err)
}
