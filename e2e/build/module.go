package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// listed is how many versions an error lists before it says "and older ones".
const listed = 20

// download is what go mod download -json tells.
type download struct {
	Version string
	Dir     string
	Error   string
}

// Module returns the folder that holds the source of a released module, such
// as sigs.k8s.io/karpenter v1.15.0, and downloads it if need be. The folder is
// the go command's: read it, don't write to it. The error for a version that
// doesn't exist lists those that do.
func (c *Cache) Module(ctx context.Context, path, version string) (dir string, err error) {
	d, err := c.download(ctx, path, version)
	if err != nil {
		return "", err
	}
	return d.Dir, nil
}

// Main builds a program of a released module and returns its path. It's built
// within the module's own folder, so the module's go.mod and go.sum apply
// exactly. Pkg is the package, as an import path or relative to the module
// ("./kwok"); goos and goarch are the system that it will run on, this one if
// they're empty.
func (c *Cache) Main(ctx context.Context, module, version, pkg, goos, goarch string) (binary string, err error) {
	d, err := c.download(ctx, module, version)
	if err != nil {
		return "", err
	}
	return c.main(ctx, source{dir: d.Dir, module: module, version: d.Version}, pkg, goos, goarch)
}

// MainOf is Main for the module in a folder, as it is there at this moment:
// every file that belongs to the module is part of the entry's key. A go.mod
// that replaces modules by other folders is refused, since changes there
// would go unseen.
func (c *Cache) MainOf(ctx context.Context, dir, pkg, goos, goarch string) (binary string, err error) {
	s, err := folder(dir)
	if err != nil {
		return "", fmt.Errorf("the module in %s: %w", dir, err)
	}
	return c.main(ctx, s, pkg, goos, goarch)
}

// MainInUse is Main for a module that the working directory's module requires, or is: in
// that version, and with those of its dependencies that are chosen there.
func (c *Cache) MainInUse(ctx context.Context, module, pkg, goos, goarch string) (binary string, err error) {
	s, err := inUse(ctx, module, pkg)
	if err != nil {
		return "", fmt.Errorf("%s of %s, in the module of the working directory: %w", pkg, module, err)
	}
	return c.main(ctx, s, pkg, goos, goarch)
}

// inUse is a module as the working directory's module has it, with a hash of all that a
// package of it is built from for a version.
func inUse(ctx context.Context, module, pkg string) (source, error) {
	dir, err := os.Getwd()
	if err != nil {
		return source{}, err
	}
	const files = `{{with .Module}}{{if eq .Path "` + "%s" + `"}}{{range $.GoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}
{{end}}{{else}}@{{.Path}}@{{.Version}}
{{end}}{{end}}`
	out, err := (command{dir: dir}).run(ctx, "list", "-deps", "-f", fmt.Sprintf(files, module), importPath(module, relative(module, pkg)))
	if err != nil {
		return source{}, err
	}
	parts := strings.Split(strings.TrimSpace(string(out)), "\n")
	parts = slices.DeleteFunc(parts, func(line string) bool { return line == "" })
	slices.Sort(parts)
	hash, err := dirhash.Hash1(slices.Compact(parts), func(part string) (io.ReadCloser, error) {
		if strings.HasPrefix(part, "@") {
			return io.NopCloser(strings.NewReader(part)), nil
		}
		return os.Open(part)
	})
	return source{dir: dir, module: module, version: hash, inUse: true}, err
}

// Tests builds the tests of a package of a released module into a program, as
// `go test -c` does, and returns its path and the package's folder, in which tests
// expect to run. It is the go command's: don't write to it.
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
			_, err := cmd.run(ctx, "test", "-c", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, name), pkg)
			return err
		},
	})
	return filepath.Join(dir, name), folder, err
}

// source is the source of a module: a release, or a folder in some state.
type source struct {
	dir, module, version string

	inUse bool // dir is that of another module, which uses this one
}

// named is how the go command is told of a package, in dir.
func (s source) named(pkg string) string {
	if s.inUse {
		return importPath(s.module, pkg)
	}
	return pkg
}

// folder is the module in a folder, with a hash of its files for a version.
func folder(dir string) (source, error) {
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
	for _, r := range mod.Replace {
		if modfile.IsDirectoryPath(r.New.Path) {
			return source{}, fmt.Errorf("go.mod replaces %s by the folder %s; only a module that stands alone can be built from its folder", r.Old.Path, r.New.Path)
		}
	}
	files, err := zip.CheckDir(dir) // what the module's zip would hold
	if err != nil {
		return source{}, err
	}
	hash, err := dirhash.Hash1(files.Valid, func(name string) (io.ReadCloser, error) { return os.Open(name) })
	return source{dir: dir, module: mod.Module.Mod.Path, version: hash}, err
}

func (c *Cache) main(ctx context.Context, s source, pkg, goos, goarch string) (binary string, err error) {
	if goos == "" {
		goos = runtime.GOOS
	}
	if goarch == "" {
		goarch = runtime.GOARCH
	}
	pkg = relative(s.module, pkg)
	name := program(importPath(s.module, pkg))
	entry, at, origin := name, "in "+s.dir, strings.Join([]string{s.dir, s.module, pkg, goos, goarch}, " ")
	if semver.IsValid(s.version) { // a hash is no name
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
			cmd := command{dir: s.dir, tmp: filepath.Join(dir, "tmp"), goos: goos, goarch: goarch}
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
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// importPath is a package's whole name; pkg is relative to the module.
func importPath(module, pkg string) string {
	return strings.TrimSuffix(module+strings.TrimPrefix(pkg, "."), "/")
}

// relative is pkg relative to its module.
func relative(module, pkg string) string {
	pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	if pkg == "" || pkg == "." {
		return "."
	}
	return "./" + strings.TrimPrefix(pkg, "./")
}

func (c *Cache) download(ctx context.Context, path, version string) (d download, err error) {
	if semver.IsValid("v" + version) {
		version = "v" + version
	}
	t := task{what: fmt.Sprintf("module %s@%s", path, version), needs: "500 MB"}
	empty, err := os.MkdirTemp("", "plumbline-download-") // no go.mod here or above that could have a say
	if err != nil {
		return d, t.explain(ctx, c.Dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(empty)) }()

	cmd := command{dir: empty, flags: "-mod=mod"}
	out, err := cmd.run(ctx, "mod", "download", "-json", path+"@"+version)
	if jsonErr := json.Unmarshal(out, &d); err == nil && jsonErr != nil {
		err = fmt.Errorf("go mod download -json %s@%s: %w", path, version, jsonErr)
	}
	if d.Error != "" { // which is then not on stderr
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

// unknown is the error for a version, or a module, that doesn't exist, or nil
// if that's not why a download failed. It asks: what a proxy answers for what
// it doesn't have (404, 410, 403) and how the go command words that, differs.
func (c *Cache) unknown(ctx context.Context, cmd command, path, version string, cause error) error {
	var module struct{ Versions []string }
	out, err := cmd.run(ctx, "list", "-m", "-versions", "-json", path)
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	versions := module.Versions
	switch {
	case err == nil && len(versions) > 0 && !slices.Contains(versions, version):
		slices.Reverse(versions)
		older := ""
		if len(versions) > listed {
			versions, older = versions[:listed], " and older ones"
		}
		return fmt.Errorf("%s has no version %q: there are %s%s", path, version, strings.Join(versions, " "), older)
	case refused.MatchString(cause.Error()) && (err == nil || refused.MatchString(err.Error())):
		return fmt.Errorf("no module is called %s, or nobody may have it: %w", path, cause)
	}
	return nil
}
