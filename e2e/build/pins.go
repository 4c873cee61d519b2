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

// A folder with a go.mod is a module of its own, which can't be embedded. So kwok.mod and
// kwok.sum are the go.mod and go.sum of the pin "kwok".
//
//go:embed pins/*.mod pins/*.sum
var pins embed.FS

// recipe is how to build a pin, beyond its go.mod.
type recipe struct {
	module string            // its version is the pin's version
	stamps []string          // linker variables; V, MAJOR and MINOR stand for the version's parts
	rename map[string]string // from the folder's name to the program's
	cost   string            // time on two cores with nothing downloaded yet
	needs  string            // disk space, downloads and the go command's cache included
}

// recipes returns the recipes by the pin's name without its version.
func recipes() map[string]recipe {
	return map[string]recipe{
		"kubernetes": {
			module: "k8s.io/kubernetes",
			// Without these the apiserver reports v0.0.0-master+$Format:%H$, which version
			// checks reject.
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

// pin is a module that exists only for the programs of its dependencies.
type pin struct {
	recipe
	name     string
	mod, sum []byte
	version  string   // of the recipe's module
	packages []string // the tool lines: packages to build
}

// Pinned returns the folder with a pin's programs, and builds them if they are missing. The
// pins are "kubernetes-v1.36" (one for each minor version: kube-apiserver,
// kube-controller-manager and kube-scheduler), "etcd", "kwok" (kwok and kwokctl) and "helm".
//
// If Go or the network is missing or the disk is full, the error says what to do.
func (c *Cache) Pinned(ctx context.Context, name string) (dir string, err error) {
	return c.PinnedFor(ctx, name, runtime.GOOS)
}

// PinnedFor builds as Pinned does, for another operating system and this architecture.
func (c *Cache) PinnedFor(ctx context.Context, name, goos string) (dir string, err error) {
	p, err := readPin(name)
	if err != nil {
		return "", err
	}
	question := strings.Join([]string{askPin, name, goos}, " ")
	return c.Keep(question, func() (string, error) { return c.pinned(ctx, p, goos) })
}

func (c *Cache) pinned(ctx context.Context, p *pin, goos string) (dir string, err error) {
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

// PinnedModule returns the source folder of the pin's main module, in the pinned version. The
// folder belongs to the go command: don't write to it.
func (c *Cache) PinnedModule(ctx context.Context, name string) (dir string, err error) {
	p, err := readPin(name)
	if err != nil {
		return "", err
	}
	return c.Module(ctx, p.module, p.version)
}

// Kubernetes returns the pinned version for a minor version: v1.36.3 for "1.36", "v1.36" and
// "v1.36.3". The error for any other lists the pinned ones.
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

// ldflags returns linker flags that strip symbol tables and set the version variables.
func (p *pin) ldflags() string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(p.version), "v"), ".")
	value := strings.NewReplacer("=V", "="+p.version, "=MAJOR", "="+major, "=MINOR", "="+minor)
	flags := []string{"-s -w"}
	for _, s := range p.stamps {
		flags = append(flags, "-X "+value.Replace(s))
	}
	return strings.Join(flags, " ")
}

// programs returns the names of the pin's programs, sorted.
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

// program returns the go command's name for a package's program: the last element that isn't a
// major version.
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
	files, _ := fs.Glob(pins, "pins/*.mod") // the only possible error is a malformed pattern
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".mod"))
	}
	return names
}
