package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/mod/modfile"
)

// Source builds a program from embedded source and returns its path. Files are those of the
// module without its go.mod, and import only Go's standard library. Pkg is relative to the
// module.
func (c *Cache) Source(ctx context.Context, module string, files fs.FS, pkg string) (binary string, err error) {
	found, err := c.ask(func() (answer, error) { return c.fromSource(ctx, module, files, pkg) }, askSource, module, pkg)
	return found.path(), err
}

func (c *Cache) fromSource(ctx context.Context, module string, files fs.FS, pkg string) (answer, error) {
	sum, err := digest(files)
	if err != nil {
		return answer{}, fmt.Errorf("the source of %s: %w", pkg, err)
	}
	name := program(pkg)
	flags := []string{"-trimpath", "-ldflags=-s -w"}
	dir, err := c.ensure(ctx, task{
		name:   name,
		key:    append([]string{"source", module, sum, pkg, runtime.GOOS, runtime.GOARCH, Toolchain}, flags...),
		origin: module + " " + pkg,
		what:   name,
		cost:   "some seconds",
		needs:  "500 MB",
		makes:  []string{name},
		create: func(ctx context.Context, dir string) error {
			tmp := filepath.Join(dir, "tmp", "module")
			if err := os.CopyFS(tmp, files); err != nil {
				return err
			}
			mod := fmt.Sprintf("module %s\n\ngo %s\n", modfile.AutoQuote(module), Toolchain[len("go"):])
			if err := os.WriteFile(filepath.Join(tmp, "go.mod"), []byte(mod), 0o600); err != nil {
				return err
			}
			args := append([]string{"build"}, flags...)
			_, err := (command{dir: tmp, tmp: filepath.Join(dir, "tmp")}).
				run(ctx, append(args, "-o", filepath.Join(dir, name), pkg)...)
			return err
		},
	})
	return answer{Path: dir, File: name}, err
}

// digest returns a hash of a file tree.
func digest(files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
