package build

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// listed is how many versions an error lists.
const listed = 20

// download is the output of go mod download -json.
type download struct {
	Version string
	Dir     string
	Error   string
}

// Module returns the source folder of a released module, such as sigs.k8s.io/karpenter
// v1.15.0, and downloads it if necessary. The folder belongs to the go command: don't write to
// it. The error for an unknown version lists those that exist.
func (c *Cache) Module(ctx context.Context, path, version string) (dir string, err error) {
	found, err := c.ask(func() (answer, error) {
		d, err := c.download(ctx, path, version)
		return answer{Path: d.Dir}, err
	}, askModule, path, version)
	return found.Path, err
}

// Resolve returns the version that a branch or a commit of a module stands for now, such as
// v1.15.1-0.20260819221709-6e7eab7a0f48. A version stands for itself, and takes no download.
func (c *Cache) Resolve(ctx context.Context, path, version string) (string, error) {
	if version = versioned(version); module.CanonicalVersion(version) == version && version != "" {
		return version, nil
	}
	found, err := c.ask(func() (answer, error) {
		d, err := c.download(ctx, path, version)
		return answer{Text: d.Version}, err
	}, askVersion, path, version)
	return found.Text, err
}

// versioned returns a version with its v. It returns branches and commits as they are.
func versioned(version string) string {
	if strings.Contains(version, ".") && semver.IsValid("v"+version) {
		return "v" + version
	}
	return version
}

// Main builds a program of a released module and returns its path. It builds in the module's
// folder, so the module's go.mod and go.sum apply. Pkg is an import path or relative to the
// module ("./kwok"). If goos and goarch are empty, it builds for this machine.
func (c *Cache) Main(ctx context.Context, module, version, pkg, goos, goarch string) (binary string, err error) {
	return c.program(goos, goarch, func(goos, goarch string) (answer, error) {
		d, err := c.download(ctx, module, version)
		if err != nil {
			return answer{}, err
		}
		return c.main(ctx, source{dir: d.Dir, module: module, version: d.Version}, pkg, goos, goarch)
	}, pkg, "of", module+"@"+versioned(version))
}

// MainOf builds as Main does, for the module in a folder in its present state. The entry's key
// covers all of the module's files. If its go.mod replaces modules with folders, the key covers
// what the package is built from, there and in the module.
func (c *Cache) MainOf(ctx context.Context, dir, pkg, goos, goarch string) (binary string, err error) {
	return c.program(goos, goarch, func(goos, goarch string) (answer, error) {
		s, err := folder(ctx, dir, pkg, goos, goarch)
		if err != nil {
			return answer{}, fmt.Errorf("the module in %s: %w", dir, err)
		}
		return c.main(ctx, s, pkg, goos, goarch)
	}, pkg, "in", relativeToHere(dir))
}

// MainInUse builds as Main does, for the working directory's module or one that it requires.
// The versions are those of the working directory's module.
func (c *Cache) MainInUse(ctx context.Context, module, pkg, goos, goarch string) (binary string, err error) {
	return c.program(goos, goarch, func(goos, goarch string) (answer, error) {
		s, err := inUse(ctx, module, pkg, goos, goarch)
		if err != nil {
			return answer{}, fmt.Errorf("%s of %s, in the module of the working directory: %w", pkg, module, err)
		}
		return c.main(ctx, s, pkg, goos, goarch)
	}, pkg, "of", module)
}

// program asks for a program, for this machine by default, and returns its path.
func (c *Cache) program(goos, goarch string, find func(goos, goarch string) (answer, error), what ...string) (string,
	error,
) {
	goos, goarch = cmp.Or(goos, runtime.GOOS), cmp.Or(goarch, runtime.GOARCH)
	found, err := c.ask(func() (answer, error) { return find(goos, goarch) },
		append([]string{askBuild, goos + "/" + goarch}, what...)...)
	return found.path(), err
}

// relativeToHere returns a folder as it is called from the working directory, so that it is called the same on another
// machine.
func relativeToHere(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if below, err := filepath.Rel(here, absolute); err == nil {
		return filepath.ToSlash(below)
	}
	return dir
}

// inUse returns a module as the working directory's module uses it. Its version is a hash of
// everything that the package is built from.
func inUse(ctx context.Context, module, pkg, goos, goarch string) (source, error) {
	dir, err := os.Getwd()
	if err != nil {
		return source{}, err
	}
	hash, err := hashUsed(ctx, command{dir: dir, goos: goos, goarch: goarch}, importPath(module, relative(module, pkg)))
	return source{dir: dir, module: module, version: hash, inUse: true}, err
}

// hashUsed returns a hash of everything that a package is built from: the files of its
// packages that lie in folders, and the versions of all other modules.
func hashUsed(ctx context.Context, cmd command, pkg string) (string, error) {
	const parts = `{{with .Module}}{{if or .Main (and .Replace (not .Replace.Version))}}{{.GoMod}}
{{range $.GoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.SFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.HFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}
{{end}}{{else}}@{{.Path}}@{{.Version}}{{with .Replace}}@{{.Path}}@{{.Version}}{{end}}
{{end}}{{end}}`
	out, err := cmd.run(ctx, "list", "-deps", "-f", parts, pkg)
	if f, failed := errors.AsType[*failure](err); failed {
		f.args = []string{"list", "-deps", pkg} // the template would hide what it says
	}
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	slices.Sort(lines)
	return dirhash.Hash1(slices.Compact(lines), func(line string) (io.ReadCloser, error) {
		if strings.HasPrefix(line, "@") {
			return io.NopCloser(strings.NewReader(line)), nil
		}
		return os.Open(line)
	})
}

// Tests builds the tests of a package of a released module, as `go test -c` does. It returns
// the program and the package's folder, in which to run it. The folder belongs to the go
// command: don't write to it.
func (c *Cache) Tests(ctx context.Context, module, version, pkg string) (binary, folder string, err error) {
	d, err := c.download(ctx, module, version)
	if err != nil {
		return "", "", err
	}
	pkg = relative(module, pkg)
	folder = filepath.Join(d.Dir, filepath.FromSlash(pkg))
	if _, err := os.Stat(folder); err != nil {
		return "", "", fmt.Errorf("%s@%s has no package %s: %w", module, d.Version, pkg, err)
	}
	const name = "tests"
	dir, err := c.ensure(ctx, task{
		name:  fmt.Sprintf("tests-%s-%s", filepath.Base(folder), d.Version),
		key:   []string{"tests", module, d.Version, pkg, runtime.GOOS, runtime.GOARCH, Toolchain},
		what:  fmt.Sprintf("the tests %s of %s@%s", pkg, module, d.Version),
		cost:  "about 2 min",
		needs: "2 GB",
		makes: []string{name},
		create: func(ctx context.Context, dir string) error {
			cmd := command{dir: d.Dir, tmp: filepath.Join(dir, "tmp"), goos: runtime.GOOS, goarch: runtime.GOARCH}
			_, err := cmd.run(ctx, "test", "-c", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o",
				filepath.Join(dir, name), pkg)
			return err
		},
	})
	return filepath.Join(dir, name), folder, err
}

// source is a module's source: a release, or a folder in some state.
type source struct {
	dir, module, version string

	flags string // GOFLAGS; the default if empty
	inUse bool   // dir is the folder of another module that uses this one
}

// named returns the package's name for the go command in dir.
func (s source) named(pkg string) string {
	if s.inUse {
		return importPath(s.module, pkg)
	}
	return pkg
}

// folder returns the module in a folder. Its version is a hash of its files, and of those in
// the folders by which it replaces other modules. A folder vendor counts as it does for the go
// command: what is built from is in it, and may differ from the released modules.
func folder(ctx context.Context, dir, pkg, goos, goarch string) (source, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return source{}, err
	}
	mod, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		return source{}, err
	}
	if mod.Module == nil {
		return source{}, errors.New("go.mod names no module")
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor", "modules.txt")); err == nil {
		hash, err := hashVendored(dir)
		return source{dir: dir, module: mod.Module.Mod.Path, version: hash, flags: "-mod=vendor"}, err
	}
	for _, r := range mod.Replace {
		if !modfile.IsDirectoryPath(r.New.Path) {
			continue
		}
		// Only what is used counts: such a folder may be a whole checkout, with artifacts.
		hash, err := hashUsed(ctx, command{dir: dir, goos: goos, goarch: goarch}, relative(mod.Module.Mod.Path, pkg))
		return source{dir: dir, module: mod.Module.Mod.Path, version: hash}, err
	}
	files, err := zip.CheckDir(dir) // the files of the module's zip
	if err != nil {
		return source{}, err
	}
	hash, err := hashFiles(files.Valid)
	return source{dir: dir, module: mod.Module.Mod.Path, version: hash}, err
}

// hashVendored returns a hash of a module's files, which a zip holds, and of those in its folder
// vendor, which it doesn't.
func hashVendored(dir string) (string, error) {
	own, err := zip.CheckDir(dir)
	if err != nil {
		return "", err
	}
	vendored, err := dirhash.DirFiles(filepath.Join(dir, "vendor"), filepath.Join(dir, "vendor"))
	if err != nil {
		return "", err
	}
	return hashFiles(append(own.Valid, vendored...))
}

func hashFiles(paths []string) (string, error) {
	return dirhash.Hash1(paths, func(path string) (io.ReadCloser, error) { return os.Open(path) })
}

func (c *Cache) main(ctx context.Context, s source, pkg, goos, goarch string) (answer, error) {
	pkg = relative(s.module, pkg)
	name := program(importPath(s.module, pkg))
	entry, at, origin := name, "in "+s.dir, strings.Join([]string{s.dir, s.module, pkg, goos, goarch}, " ")
	if semver.IsValid(s.version) { // a hash isn't valid
		entry, at, origin = name+"-"+s.version, "of "+s.module+"@"+s.version, ""
	}
	flags := []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w"}
	dir, err := c.ensure(ctx, task{
		name:   fmt.Sprintf("%s-%s-%s", entry, goos, goarch),
		key:    append([]string{"main", s.module, s.version, pkg, goos, goarch, Toolchain}, flags...),
		origin: origin,
		what:   fmt.Sprintf("%s %s for %s/%s", pkg, at, goos, goarch),
		cost:   "about 2 min",
		needs:  "2 GB",
		makes:  []string{name},
		create: func(ctx context.Context, dir string) error {
			cmd := command{dir: s.dir, tmp: filepath.Join(dir, "tmp"), goos: goos, goarch: goarch, flags: s.flags}
			kind, err := cmd.run(ctx, "list", "-f", "{{.Name}}", s.named(pkg))
			if err != nil {
				return err
			}
			if got := strings.TrimSpace(string(kind)); got != "main" {
				return fmt.Errorf("package %s %s is no program: it's package %s, not main", pkg, at, got)
			}
			args := append([]string{"build"}, flags...)
			_, err = cmd.run(ctx, append(args, "-o", filepath.Join(dir, name), s.named(pkg))...)
			return err
		},
	})
	return answer{Path: dir, File: name}, err
}

// importPath returns the import path of a package relative to the module.
func importPath(module, pkg string) string {
	return strings.TrimSuffix(module+strings.TrimPrefix(pkg, "."), "/")
}

// relative returns pkg relative to its module.
func relative(module, pkg string) string {
	pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	if pkg == "" || pkg == "." {
		return "."
	}
	return "./" + strings.TrimPrefix(pkg, "./")
}

func (c *Cache) download(ctx context.Context, path, version string) (d download, err error) {
	version = versioned(version)
	t := task{what: fmt.Sprintf("module %s@%s", path, version), needs: "500 MB"}
	empty, err := os.MkdirTemp("", "plumbline-download-") // without a go.mod here or above
	if err != nil {
		return d, t.explain(ctx, c.Dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(empty)) }()

	cmd := command{dir: empty, flags: "-mod=mod"}
	out, err := cmd.run(ctx, "mod", "download", "-json", path+"@"+version)
	if jsonErr := json.Unmarshal(out, &d); err == nil && jsonErr != nil {
		err = fmt.Errorf("go mod download -json %s@%s: %w", path, version, jsonErr)
	}
	if d.Error != "" { // it isn't on stderr then
		err = errors.Join(errors.New(d.Error), err)
	}
	if err == nil {
		return d, nil
	}
	if ctx.Err() == nil {
		if unknown := c.unknown(ctx, cmd, path, version, err); unknown != nil {
			return d, unknown
		}
	}
	return d, t.explain(ctx, c.Dir, err)
}

// ErrModulePath means that a repository has the version, but not as a version of that module.
var ErrModulePath = errors.New("its go.mod names a module path that doesn't fit the version's tag")

// disagrees matches what the go command and proxies say of a tag and a module path that don't
// fit, such as the tag v2.0.0 of a path without /v2.
var disagrees = regexp.MustCompile(`module path must match major version|go\.mod has (non-|post-|malformed)|` +
	`module declares its path as|should be v\d`)

// unknown returns an error if a download failed because the version or module doesn't exist,
// and nil otherwise. It lists the versions, because proxies' status codes (404, 410, 403) and
// the go command's messages differ.
func (c *Cache) unknown(ctx context.Context, cmd command, path, version string, cause error) error {
	var module struct{ Versions []string }
	out, err := cmd.run(ctx, "list", "-m", "-versions", "-json", path)
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	versions := module.Versions
	switch {
	case disagrees.MatchString(cause.Error()):
		return fmt.Errorf("%s@%s can't be downloaded as a Go module: %w: %w", path, version, ErrModulePath, cause)
	case err == nil && len(versions) > 0 && !slices.Contains(versions, version):
		slices.Reverse(versions)
		older := ""
		if len(versions) > listed {
			versions, older = versions[:listed], " and older ones"
		}
		what := "version"
		if !semver.IsValid(version) {
			what = "branch or commit"
		}
		return fmt.Errorf("%s has no %s %q: there are %s%s", path, what, version, strings.Join(versions, " "), older)
	case refused.MatchString(cause.Error()) && (err == nil || refused.MatchString(err.Error())):
		return fmt.Errorf("module %s does not exist, or you have no access to it: %w", path, cause)
	}
	return nil
}
