package providers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// base returns the adapter that another one in the folder dir names as its base. Above are the
// files that lead to it. It returns nil, and records the mistake, if there is none.
func (d *decoder) base(base, dir string, above []string) *Adapter {
	complain := func(format string, args ...any) *Adapter {
		d.mistakes = append(d.mistakes, Mistake{
			File: d.file, Line: d.at["base"].line, Column: d.at["base"].column, Path: "base",
			Message: fmt.Sprintf(format, args...),
		})
		return nil
	}
	switch {
	case slices.Contains(bases(), base):
		return builtin(base)
	case !isFile(base):
		return complain("there is no built-in adapter `%s`%s", base, hint(base, bases()))
	}
	file := base
	if !filepath.IsAbs(base) {
		file = filepath.Join(dir, base)
	}
	for i, other := range above {
		if absolute(other) == absolute(file) {
			return complain("is a base of itself: %s", strings.Join(append(slices.Clone(above[i:]), file), " -> "))
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return complain("the adapter cannot be read: %v", err)
	}
	a := parse(raw, file, filepath.Dir(file), nil, above...)
	if a.at == nil { // its own base is missing
		d.mistakes = append(d.mistakes, a.mistakes...)
		return nil
	}
	a.resolve(filepath.Dir(base))
	return a
}

func absolute(file string) string {
	if path, err := filepath.Abs(file); err == nil {
		return path
	}
	return file
}

// resolve makes the adapter's relative paths, which start in a folder, relative to where that
// folder's path starts.
func (a *Adapter) resolve(folder string) {
	paths := []*string{&a.NodeClass.File, &a.NodePool.File, &a.NodeClaim.File}
	k := &a.Controller
	if k.Chart != nil {
		paths = append(paths, &k.Chart.Path)
	}
	for i := range k.Manifests {
		paths = append(paths, &k.Manifests[i])
	}
	for i := range a.CRDs {
		paths = append(paths, &a.CRDs[i].Path, &a.CRDs[i].Chart)
	}
	if m := a.Management; m != nil {
		for i := range m.Manifests {
			paths = append(paths, &m.Manifests[i])
		}
		for i := range m.CRDs {
			paths = append(paths, &m.CRDs[i].Path, &m.CRDs[i].Chart)
		}
	}
	builds := []*Build{k.Build}
	if a.Simulator != nil {
		builds = append(builds, a.Simulator.Build)
		a.Simulator.Image = program(folder, a.Simulator.Image)
	}
	for _, b := range builds {
		if b != nil {
			paths = append(paths, &b.Module)
		}
	}
	for _, p := range paths {
		*p = inFolder(folder, *p)
	}
	k.Image = program(folder, k.Image)
	for name, file := range k.Files {
		file.File = inFolder(folder, file.File)
		k.Files[name] = file
	}
	for _, h := range a.Hooks {
		h.resolve(folder)
	}
	for _, h := range a.Drifts {
		h.resolve(folder)
	}
}

func (h Hook) resolve(folder string) {
	if len(h.Exec) > 0 {
		h.Exec[0] = program(folder, h.Exec[0])
	}
}

// inFolder returns the path of a file that p names in a folder. It keeps paths that are not
// relative to an adapter, such as those in the source module.
func inFolder(folder, p string) string {
	if p == "" || filepath.IsAbs(p) || strings.HasPrefix(p, "$") || strings.Contains(p, "://") {
		return p
	}
	return filepath.Join(folder, p)
}

// program does the same for images and programs, which are paths only if they begin with a dot.
func program(folder, p string) string {
	if !strings.HasPrefix(p, ".") {
		return p
	}
	if p = filepath.Join(folder, p); filepath.IsAbs(p) || strings.HasPrefix(p, ".") {
		return p
	}
	return "./" + p
}
