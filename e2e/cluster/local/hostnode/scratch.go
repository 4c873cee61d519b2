package hostnode

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// scratch are the emptyDirs of a pod. Without mounts a folder has one place:
// it is moved into the container that uses it, and back when that ends. So what
// an init container leaves is there for the next; two at the same time can't have it.
type scratch struct {
	dir string

	mu   sync.Mutex
	lent map[string]loan // by volume, or volume and subPath
}

type loan struct {
	to *container
	at string // path on the host
}

// lend moves the volume, or the part of it that the mount names, into the container.
func (s *scratch) lend(c *container, box sandbox, m corev1.VolumeMount) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := filepath.Join(m.Name, path.Clean("/"+m.SubPath))
	for other, loan := range s.lent {
		if within(key, other) || within(other, key) {
			return fmt.Errorf("emptyDir %q is in container %q, and on node %s it can be in one place at a time", m.Name, loan.to.spec.Name, Name)
		}
	}
	home := filepath.Join(s.dir, key)
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	if err := os.Chmod(home, 0o777); err != nil { // any user of any container, past the umask
		return err
	}
	root, at, err := box.open(m)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.RemoveAll(at); err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(at), 0o755); err != nil {
		return err
	}
	place := filepath.Join(box.dir, at)
	if err := os.Rename(home, place); err != nil {
		return err
	}
	s.lent[key] = loan{to: c, at: place}
	return nil
}

// takeBack returns what a container had.
func (s *scratch) takeBack(c *container) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Those inside others first.
	for _, key := range slices.SortedFunc(maps.Keys(s.lent), func(a, b string) int {
		return len(s.lent[b].at) - len(s.lent[a].at)
	}) {
		loan := s.lent[key]
		if loan.to != c {
			continue
		}
		delete(s.lent, key)
		if err := os.Rename(loan.at, filepath.Join(s.dir, key)); err != nil {
			return fmt.Errorf("emptyDir %s: %w", key, err)
		}
	}
	return nil
}

// within tells whether path is folder, or below it.
func within(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}
