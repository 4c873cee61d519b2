package providers

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// sourcePrefix begins the paths that lie in the source module.
const sourcePrefix = "$source"

func fromSource(p string) bool { return p == sourcePrefix || strings.HasPrefix(p, sourcePrefix+"/") }

// tree finds the files of an adapter. The zero source means that the module
// has not been downloaded.
type tree struct {
	a      *Adapter
	source string
}

// locate splits a path of the adapter into a file system and a name in it.
func (t tree) locate(p string) (fs.FS, string) {
	switch {
	case fromSource(p):
		return os.DirFS(t.source), path.Clean("." + strings.TrimPrefix(p, sourcePrefix))
	case t.a.builtin != nil && !filepath.IsAbs(p):
		return t.a.builtin, path.Clean(p)
	case !filepath.IsAbs(p):
		p = filepath.Join(orElse(t.a.Dir, "."), p)
	}
	return os.DirFS(filepath.Dir(p)), filepath.Base(p)
}

// read reads one file.
func (t tree) read(p string) ([]byte, error) {
	files, name := t.locate(p)
	return fs.ReadFile(files, name)
}

// stat says what a path is.
func (t tree) stat(p string) (fs.FileInfo, error) {
	files, name := t.locate(p)
	return fs.Stat(files, name)
}

// yamlFile is a file that was found, under a name for messages.
type yamlFile struct {
	name string
	raw  []byte
}

// yamls reads the YAML file p, or those directly in the folder p, by name.
func (t tree) yamls(p string) ([]yamlFile, error) {
	files, name := t.locate(p)
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		raw, err := fs.ReadFile(files, name)
		return []yamlFile{{p, raw}}, err
	}
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return nil, err
	}
	var found []yamlFile
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		raw, err := fs.ReadFile(files, path.Join(name, e.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, yamlFile{path.Join(p, e.Name()), raw})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the folder %s holds no .yaml file", p)
	}
	return found, nil
}

// folder is where the folder p lies on disk. A built-in adapter has no folders
// of its own on disk; it takes them from the source module.
func (t tree) folder(p string) string {
	switch {
	case fromSource(p):
		return filepath.Join(t.source, filepath.FromSlash(strings.TrimPrefix(p, sourcePrefix)))
	case filepath.IsAbs(p):
		return p
	}
	return filepath.Join(orElse(t.a.Dir, "."), p)
}
