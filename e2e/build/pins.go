package build

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// A folder with a go.mod is a module of its own and can't be embedded, hence
// the names: kwok.mod and kwok.sum are the go.mod and go.sum of the pin "kwok".
//
//go:embed pins/*.mod pins/*.sum
var pins embed.FS

// recipe is what a pin's go.mod can't say about building it.
type recipe struct {
	module string            // whose version is the pin's version
	stamps []string          // linker variables that get a value; V, MAJOR and MINOR stand for the version's parts
	rename map[string]string // programs that are known under another name than their folder's
	cost   string            // on two cores, with nothing downloaded yet
	needs  string            // of the disk, downloads and the go command's cache included
}

// recipes are keyed by the pin's name, without the version that may follow it.
func recipes() map[string]recipe {
	return map[string]recipe{
		"kubernetes": {
			module: "k8s.io/kubernetes",
			// Without these the apiserver reports v0.0.0-master+$Format:%H$, which
			// nothing that checks versions understands.
			stamps: []string{
				"k8s.io/component-base/version.gitVersion=V",
				"k8s.io/component-base/version.gitMajor=MAJOR",
				"k8s.io/component-base/version.gitMinor=MINOR",
				"k8s.io/client-go/pkg/version.gitVersion=V",
				"k8s.io/client-go/pkg/version.gitMajor=MAJOR",
				"k8s.io/client-go/pkg/version.gitMinor=MINOR",
			},
			cost:  "about 4 min",
			needs: "3 GB",
		},
		"etcd": {
			module: "go.etcd.io/etcd/server/v3",
			rename: map[string]string{"server": "etcd"},
			cost:   "about 20 s",
			needs:  "1 GB",
		},
		"kwok": {
			module: "sigs.k8s.io/kwok",
			stamps: []string{"sigs.k8s.io/kwok/pkg/consts.Version=V"},
			cost:   "about 1 min",
			needs:  "2 GB",
		},
		"helm": {
			module: "helm.sh/helm/v4",
			cost:   "about 1 min",
			needs:  "2 GB",
		},
	}
}

// pin is a module that exists for its dependencies' programs alone.
type pin struct {
	recipe
	name     string
	mod, sum []byte
	version  string   // of the recipe's module
	packages []string // the tool lines: what is built
}

// Pinned returns the folder that holds the programs of a pin, and builds them
// if they aren't there yet. The pins are "kubernetes-v1.36" (and its like, one
// for each minor version: kube-apiserver, kube-controller-manager and
// kube-scheduler), "etcd", "kwok" (kwok and kwokctl) and "helm".
//
// The error says what to do if the go command or the network is missing, or
// the disk is full.
func (c *Cache) Pinned(ctx context.Context, name string) (dir string, err error) {
	return c.PinnedFor(ctx, name, runtime.GOOS)
}

// PinnedFor is Pinned for another operating system, on this machine's architecture.
func (c *Cache) PinnedFor(ctx context.Context, name, goos string) (dir string, err error) {
	p, err := readPin(name)
	if err != nil {
		return "", err
	}
	flags := []string{"-trimpath", "-ldflags=" + p.ldflags()}
	return c.ensure(ctx, task{
		name:  p.name,
		key:   append([]string{"pin", string(p.mod), string(p.sum), goos, runtime.GOARCH, Toolchain}, flags...),
		what:  fmt.Sprintf("%s %s", strings.Join(p.programs(), ", "), p.version),
		cost:  p.cost,
		needs: p.needs,
		makes: p.programs(),
		create: func(ctx context.Context, dir string) error {
			return p.build(ctx, dir, goos, flags)
		},
	})
}

// PinnedModule returns the folder with the source of the module that a pin is named
// after, of the release that is pinned. It is the go command's: don't write to it.
func (c *Cache) PinnedModule(ctx context.Context, name string) (dir string, err error) {
	p, err := readPin(name)
	if err != nil {
		return "", err
	}
	return c.Module(ctx, p.module, p.version)
}

// Kubernetes returns the version that is pinned for a minor version: "1.36",
// "v1.36" and "v1.36.3" are all v1.36.3. The error for any other lists those
// that there are.
func Kubernetes(minor string) (version string, err error) {
	wanted := "v" + strings.TrimPrefix(minor, "v")
	known := []string{}
	for _, name := range pinNames() {
		if !strings.HasPrefix(name, "kubernetes-") {
			continue
		}
		p, err := readPin(name)
		if err != nil {
			return "", err
		}
		if wanted == p.version || wanted == semver.MajorMinor(p.version) {
			return p.version, nil
		}
		known = append(known, fmt.Sprintf("%s (%s)", strings.TrimPrefix(semver.MajorMinor(p.version), "v"), p.version))
	}
	return "", fmt.Errorf("no Kubernetes %q here: there are %s", minor, strings.Join(known, ", "))
}

// build builds the pin's programs into dir.
func (p *pin) build(ctx context.Context, dir, goos string, flags []string) error {
	tmp := filepath.Join(dir, "tmp")
	for name, content := range map[string][]byte{"go.mod": p.mod, "go.sum": p.sum} {
		if err := os.WriteFile(filepath.Join(tmp, name), content, 0o600); err != nil {
			return err
		}
	}
	args := append([]string{"build"}, flags...)
	args = append(args, "-o", dir+string(filepath.Separator), "tool")
	if _, err := (command{dir: tmp, tmp: tmp, goos: goos, goarch: runtime.GOARCH}).run(ctx, args...); err != nil {
		return err
	}
	for from, to := range p.rename {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			return err
		}
	}
	return nil
}

// ldflags are the linker's: no symbol tables, and the version where the
// programs look for it.
func (p *pin) ldflags() string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(p.version), "v"), ".")
	value := strings.NewReplacer("=V", "="+p.version, "=MAJOR", "="+major, "=MINOR", "="+minor)
	flags := []string{"-s -w"}
	for _, s := range p.stamps {
		flags = append(flags, "-X "+value.Replace(s))
	}
	return strings.Join(flags, " ")
}

// programs are the names of what the pin builds, sorted.
func (p *pin) programs() []string {
	names := make([]string, 0, len(p.packages))
	for _, pkg := range p.packages {
		name := program(pkg)
		if to, ok := p.rename[name]; ok {
			name = to
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// program is the name that the go command gives to the program of a package:
// its last element that isn't a major version.
func program(pkg string) string {
	dir, last := path.Split(pkg)
	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		return path.Base(dir)
	}
	return last
}

func readPin(name string) (*pin, error) {
	mod, err := pins.ReadFile(path.Join("pins", name+".mod"))
	if err != nil {
		return nil, fmt.Errorf("no pin %q here: there are %s", name, strings.Join(pinNames(), ", "))
	}
	sum, err := pins.ReadFile(path.Join("pins", name+".sum"))
	if err != nil {
		return nil, fmt.Errorf("pin %s: %w", name, err)
	}
	kind, _, _ := strings.Cut(name, "-")
	p := &pin{name: name, mod: mod, sum: sum, recipe: recipes()[kind]}
	file, err := modfile.Parse(name+".mod", mod, nil)
	if err != nil {
		return nil, fmt.Errorf("pin %s: %w", name, err)
	}
	for _, t := range file.Tool {
		p.packages = append(p.packages, t.Path)
	}
	for _, r := range file.Require {
		if r.Mod.Path == p.module {
			p.version = r.Mod.Version
		}
	}
	if p.version == "" || len(p.packages) == 0 {
		return nil, fmt.Errorf("pin %s: it must require %s and have tool lines", name, p.module)
	}
	return p, nil
}

func pinNames() []string {
	files, _ := fs.Glob(pins, "pins/*.mod") // the pattern is well-formed: no other error exists
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".mod"))
	}
	return names
}
