package hostnode

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// move is an emptyDir at its mount path. Without mounts, the folder itself is moved there, and
// back when the container ends, for the next start.
type move struct{ home, place string }

// moveEmptyDir moves an emptyDir into the container's files. It makes the emptyDir if needed.
func (c *container) moveEmptyDir(s sandbox, m corev1.VolumeMount) error {
	home := filepath.Join(c.pod.dir, "emptydirs", m.Name)
	// Any user of the container may write into it, whatever the umask.
	if err := errors.Join(os.MkdirAll(home, 0o777), os.Chmod(home, 0o777)); err != nil {
		return err
	}
	root, at, err := s.open(m.MountPath)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := errors.Join(root.RemoveAll(at), root.MkdirAll(path.Dir(at), 0o755)); err != nil {
		return err
	}
	place := filepath.Join(s.dir, at)
	if err := os.Rename(home, place); err != nil {
		return err
	}
	c.moved = append(c.moved, move{home: home, place: place})
	return nil
}

// takeEmptyDirsBack moves the container's emptyDirs out of its files, inner mounts first.
func (c *container) takeEmptyDirsBack() error {
	var err error
	for _, m := range slices.Backward(c.moved) {
		err = errors.Join(err, os.Rename(m.place, m.home))
	}
	c.moved = nil
	return err
}
