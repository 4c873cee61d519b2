package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// SealedVariable names the folder of a sealed cache: one that was filled elsewhere for one selection, and takes nothing
// in. With it a run needs neither Go nor the network. What runs leave goes into the user's cache as ever.
const SealedVariable = "PLUMBLINE_SEALED"

// answersFile says what a sealed folder has for which question.
const answersFile = "answers.json"

// answer is what a cache says to a question: a version, or a file or folder.
type answer struct {
	Text string `json:"text,omitempty"` // a version
	Path string `json:"path,omitempty"` // in a sealed folder: relative to it, with "/"
	File string `json:"file,omitempty"` // of the folder at Path; empty: the path itself is meant
}

func (a answer) path() string { return filepath.Join(a.Path, a.File) }

// answers are all that a cache has said. The zero value is empty.
type answers struct {
	mu  sync.Mutex
	all map[string]answer
}

// errSealed is why a sealed cache has no answer.
var errSealed = errors.New("it was filled for another selection, and nothing is built or downloaded here")

// The kinds of questions, their first words.
const (
	askModule  = "module"
	askVersion = "version"
	askBuild   = "build"
	askPin     = "pin"
	askSource  = "source"
)

// PinnedPrefix begins the paths in a sealed folder of what is the same for all providers.
const PinnedPrefix = askPin + "/"

// ask answers a question: by what a sealed folder has, or else by what find finds.
func (c *Cache) ask(find func() (answer, error), question ...string) (answer, error) {
	key := strings.Join(question, " ")
	if sealed := os.Getenv(SealedVariable); sealed != "" {
		return unseal(sealed, key)
	}
	found, err := find()
	if err == nil {
		c.said.mu.Lock()
		defer c.said.mu.Unlock()
		if c.said.all == nil {
			c.said.all = map[string]answer{}
		}
		c.said.all[key] = found
	}
	return found, err
}

// unseal looks an answer up in a sealed folder.
func unseal(sealed, question string) (answer, error) {
	var all map[string]answer
	raw, err := os.ReadFile(filepath.Join(sealed, answersFile))
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s=%s is no sealed cache: %w", SealedVariable, sealed, err)
	}
	found, there := all[question]
	if !there {
		return answer{}, fmt.Errorf("the sealed cache in %s has no %s: %w", sealed, question, errSealed)
	}
	if found.Path != "" {
		found.Path = filepath.Join(sealed, filepath.FromSlash(found.Path))
	}
	return found, nil
}

// Keep returns the path that find finds, or what a sealed cache has for the question, such as
// "chart oci://registry.example/chart 1.2.3".
func (c *Cache) Keep(question string, find func() (path string, err error)) (string, error) {
	found, err := c.ask(func() (answer, error) {
		path, err := find()
		return answer{Path: path}, err
	}, question)
	return found.path(), err
}

// Seal returns the files of a sealed folder that answers what these caches were asked: each file's path on this
// machine by its path in the folder, with "/", and the content of the file that lists the answers, by its name.
func Seal(caches ...*Cache) (files map[string]string, content map[string][]byte, err error) {
	files = map[string]string{}
	all := map[string]answer{}
	for _, c := range caches {
		c.said.mu.Lock()
		for question, a := range c.said.all {
			if a.Path != "" {
				kind, rest, _ := strings.Cut(question, " ")
				within := path.Join(kind, filepath.Base(a.Path))
				if kind == askModule { // modules may have the same last name
					within = path.Join(kind, strings.ReplaceAll(rest, " ", "@"))
				}
				err = errors.Join(err, sealPath(files, a.Path, within, kind == askModule))
				a.Path = within
			}
			all[question] = a
		}
		c.said.mu.Unlock()
	}
	list, err2 := json.MarshalIndent(all, "", " ")
	return files, map[string][]byte{answersFile: list}, errors.Join(err, err2)
}

// unread are the files of modules that no run reads: it reads charts, CRDs and go.mod.
var unread = []string{".go", ".md", ".sum", ".png", ".svg", ".gif", ".jpg", ".jpeg", ".pdf", ".excalidraw"}

// sealPath adds the files at a path, which is a file or a folder.
func sealPath(files map[string]string, from, within string, module bool) error {
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || module && slices.Contains(unread, filepath.Ext(file)) {
			return err
		}
		below, err := filepath.Rel(from, file)
		files[path.Join(within, filepath.ToSlash(below))] = file
		return err
	})
}
