package providers

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// builtins holds the built-in adapters, one folder each.
//
//go:embed aws/adapter.yaml azure/adapter.yaml kwok/adapter.yaml
var builtins embed.FS

// Load reads an adapter from a YAML file. It never fails: Validate reports all mistakes
// together, each with its place in the file.
func Load(file string) *Adapter {
	raw, err := os.ReadFile(file)
	if err != nil {
		return broken(file, "the adapter cannot be read: %v", err)
	}
	return parse(raw, file, filepath.Dir(file), nil)
}

// Names returns the names of the built-in providers.
func Names() []string {
	files, err := fs.Glob(builtins, "*/adapter.yaml")
	if err != nil {
		return nil
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = path.Dir(f)
	}
	return names
}

// Named returns the built-in provider of that name, or else the adapter in the file of
// that path. Like Load it leaves mistakes to Validate.
func Named(nameOrPath string) *Adapter {
	file := path.Join(nameOrPath, "adapter.yaml")
	if raw, err := builtins.ReadFile(file); err == nil && nameOrPath != "." {
		folder, err := fs.Sub(builtins, nameOrPath)
		if err != nil {
			return broken(nameOrPath, "%v", err)
		}
		return parse(raw, "providers/"+file, "", folder)
	}
	if strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yaml") ||
		strings.HasSuffix(nameOrPath, ".yml") {
		return Load(nameOrPath)
	}
	return broken("", "unknown provider `%s`; use %s, or the path of an adapter's YAML file", nameOrPath,
		strings.Join(Names(), ", "))
}

func broken(file, format string, args ...any) *Adapter {
	return &Adapter{file: file, mistakes: Mistakes{{File: file, Message: fmt.Sprintf(format, args...)}}}
}

func parse(raw []byte, file, dir string, builtin fs.FS) *Adapter {
	d := &decoder{file: file, at: map[string]position{}}
	a := &Adapter{}
	d.document(raw, a)
	if a.Base != "" {
		a = d.decodeOver(a.Base, raw)
	}
	a.Dir, a.file, a.builtin, a.mistakes, a.at = dir, file, builtin, d.mistakes, d.at
	return a
}

// decodeOver decodes a document again, on top of the built-in adapter of that name.
func (d *decoder) decodeOver(base string, raw []byte) *Adapter {
	a := &Adapter{}
	below, err := builtins.ReadFile(path.Join(base, "adapter.yaml"))
	if err != nil {
		at := d.at["base"]
		d.mistakes = append(d.mistakes, Mistake{
			File: d.file, Line: at.line, Column: at.column, Path: "base",
			Message: fmt.Sprintf("there is no built-in adapter `%s`%s", base, hint(base, Names())),
		})
	}
	(&decoder{file: base, at: map[string]position{}}).document(below, a)
	(&decoder{file: d.file, at: map[string]position{}}).document(raw, a) // d has the mistakes already
	return a
}
