package providers

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// builtins holds the built-in adapters, one folder each.
//
//go:embed aws/adapter.yaml azure/adapter.yaml kwok/adapter.yaml proxmox/adapter.yaml simulator/adapter.yaml
var builtins embed.FS

// simulated is the built-in base of adapters for simulated clouds. It is no provider.
const simulated = "simulator"

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
	return slices.DeleteFunc(bases(), func(name string) bool { return name == simulated })
}

// bases returns the names of the built-in adapters: of all providers, and of what only others are based on.
func bases() []string {
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
	switch {
	case slices.Contains(Names(), nameOrPath):
		return builtin(nameOrPath)
	case isFile(nameOrPath):
		return Load(nameOrPath)
	case nameOrPath == simulated:
		return broken("", "`%s` is no provider but the base of adapters for simulated clouds; use %s, or the path of an "+
			"adapter with `base: %s`", simulated, strings.Join(Names(), ", "), simulated)
	}
	return broken("", "unknown provider `%s`; use %s, or the path of an adapter's YAML file", nameOrPath,
		strings.Join(Names(), ", "))
}

// builtin returns the built-in adapter of that name.
func builtin(name string) *Adapter {
	file := path.Join(name, "adapter.yaml")
	raw, err := builtins.ReadFile(file)
	if err != nil {
		return broken(file, "%v", err)
	}
	folder, err := fs.Sub(builtins, name)
	if err != nil {
		return broken(file, "%v", err)
	}
	return parse(raw, "providers/"+file, "", folder)
}

// Origin returns where the adapter comes from: a built-in one's path in Plumbline's repository, the
// name of another file, or "" for an adapter that was written in Go.
func (a *Adapter) Origin() string {
	if a.builtin != nil || a.file == "" {
		return a.file
	}
	return filepath.Base(a.file)
}

// isFile tells a path from the name of a built-in adapter.
func isFile(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yaml") ||
		strings.HasSuffix(nameOrPath, ".yml")
}

func broken(file, format string, args ...any) *Adapter {
	return &Adapter{file: file, mistakes: Mistakes{{File: file, Message: fmt.Sprintf(format, args...)}}}
}

// parse decodes an adapter. Above are the files of which it is the base, outermost first.
func parse(raw []byte, file, dir string, builtin fs.FS, above ...string) *Adapter {
	d := &decoder{file: file, at: map[string]position{}}
	a := &Adapter{}
	d.document(raw, a)
	if a.Base != "" {
		a = d.decodeOver(d.base(a.Base, dir, append(above, file)), raw)
	}
	a.Dir, a.file, a.builtin, a.mistakes, a.at = dir, file, builtin, d.mistakes, d.at
	return a
}

// decodeOver decodes a document again, on top of its base. Without one, only the mistakes so
// far are reported: what the base has can't be missed.
func (d *decoder) decodeOver(base *Adapter, raw []byte) *Adapter {
	if base == nil {
		d.at = nil
		return &Adapter{}
	}
	(&decoder{file: d.file, at: map[string]position{}}).document(raw, base) // d has the mistakes already
	d.mistakes = append(d.mistakes, base.mistakes...)
	for path, where := range base.at {
		if _, own := d.at[path]; !own {
			d.at[path] = where
		}
	}
	return base
}
