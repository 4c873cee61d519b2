package providers

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// SourcePrefix begins the paths that lie in the source module.
const SourcePrefix = "$source"

func fromSource(p string) bool { return p == SourcePrefix || strings.HasPrefix(p, SourcePrefix+"/") }

// Files reads the files of an adapter.
type Files struct {
	a      *Adapter
	source string
}

// Files returns the adapter's files. Source is the folder of the downloaded source
// module, or empty if the module has not been downloaded.
func (a *Adapter) Files(source string) Files { return Files{a, source} }

// Mounts returns the paths at which the controller's container has files of the adapter's. Processes without a root of
// their own can't have any.
func (a *Adapter) Mounts() []string {
	files := slices.Sorted(maps.Keys(a.Controller.Files))
	if a.Simulator.HasCA() {
		files = append(files, CAFolder)
	}
	if a.Management != nil {
		files = append(files, ManagementFolder)
	}
	return files
}

// locate splits a path of the adapter into a file system and a name in it.
func (f Files) locate(p string) (fs.FS, string) {
	switch {
	case fromSource(p):
		return os.DirFS(f.source), path.Clean("." + strings.TrimPrefix(p, SourcePrefix))
	case f.a.builtin != nil && !filepath.IsAbs(p):
		return f.a.builtin, path.Clean(p)
	case !filepath.IsAbs(p):
		p = filepath.Join(cmp.Or(f.a.Dir, "."), p)
	}
	return os.DirFS(filepath.Dir(p)), filepath.Base(p)
}

// Read reads one file.
func (f Files) Read(p string) ([]byte, error) {
	files, name := f.locate(p)
	return fs.ReadFile(files, name)
}

// Text returns the text of a file for the controller, which is a template.
func (f Files) Text(file File) (string, error) {
	if file.File == "" {
		return file.Text, nil
	}
	raw, err := f.Read(file.File)
	return string(raw), err
}

// stat describes a file or folder.
func (f Files) stat(p string) (fs.FileInfo, error) {
	files, name := f.locate(p)
	return fs.Stat(files, name)
}

// YAMLFile is the content of a file, with a name for messages.
type YAMLFile struct {
	Name string
	Raw  []byte
}

// YAMLs reads the YAML file p, or all YAML files that are directly in the folder p.
func (f Files) YAMLs(p string) ([]YAMLFile, error) {
	files, name := f.locate(p)
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		raw, err := fs.ReadFile(files, name)
		return []YAMLFile{{p, raw}}, err
	}
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil, err
	}
	var found []YAMLFile
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		raw, err := fs.ReadFile(files, path.Join(name, e.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, YAMLFile{path.Join(p, e.Name()), raw})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the folder %s holds no .yaml file", p)
	}
	return found, nil
}

// Folder returns the path of the folder or archive p on disk. Those of a built-in adapter are
// all in the source module.
func (f Files) Folder(p string) string {
	switch {
	case fromSource(p):
		return filepath.Join(f.source, filepath.FromSlash(strings.TrimPrefix(p, SourcePrefix)))
	case filepath.IsAbs(p):
		return p
	}
	return filepath.Join(cmp.Or(f.a.Dir, "."), p)
}
