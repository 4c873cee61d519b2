package hostnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// sandbox is the folder for a container's files. It is the container's root if own is set.
type sandbox struct {
	dir string
	own bool // the process is confined to it
	user
	// fsGroup is set if the pod has one. The kubelet gives volumes to that group, which the user is in. Here the user
	// owns them: they are copies for this container.
	fsGroup bool
}

// pathInside returns a file's path as the container's process sees it.
func (s sandbox) pathInside(p string) string {
	if s.own {
		return p
	}
	return filepath.Join(s.dir, p)
}

// open opens the container's root, for the caller to close, and resolves the mount path in it.
func (s sandbox) open(path string) (root *os.Root, at string, err error) {
	root, err = os.OpenRoot(s.dir)
	if err != nil {
		return nil, "", err
	}
	at, err = image.Resolve(root, path)
	if err != nil {
		return nil, "", errors.Join(err, root.Close())
	}
	return root, at, nil
}

// mount writes a volume's content to the mount path, and replaces the image's files there.
func (s sandbox) mount(path string, c content) error {
	root, at, err := s.open(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if at == "." {
		return errors.New("a volume can't be mounted at /")
	}
	if err := errors.Join(root.RemoveAll(at), root.MkdirAll(at, 0o755)); err != nil {
		return err
	}
	return s.write(root, at, c)
}

// refresh updates a mounted volume from its old content (held) to its new (holds).
func (s sandbox) refresh(mountPath string, held, holds content) error {
	root, at, err := s.open(mountPath)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for name := range held {
		if _, ok := holds[name]; !ok {
			if err := root.RemoveAll(path.Join(at, name)); err != nil {
				return err
			}
		}
	}
	return s.write(root, at, holds)
}

func (s sandbox) write(root *os.Root, at string, c content) error {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		target := path.Join(at, name)
		if err := root.MkdirAll(path.Dir(target), 0o755); err != nil {
			return err
		}
		if err := s.replaceFile(root, target, c[name]); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile replaces a file, if changed, in one step, so that no reader sees a part of it.
func (s sandbox) replaceFile(root *os.Root, target string, f file) error {
	if old, err := root.ReadFile(target); err == nil && bytes.Equal(old, f.data) {
		return nil
	}
	unfinished := path.Join(path.Dir(target), "..plumbline-"+path.Base(target))
	mode := fs.FileMode(f.mode) & fs.ModePerm
	if f.secret {
		mode = 0o600
	}
	if err := root.WriteFile(unfinished, f.data, 0o600); err != nil {
		return err
	}
	if (f.secret || s.fsGroup) && s.own && os.Getuid() == 0 {
		if err := root.Chown(unfinished, int(s.uid), int(s.gid)); err != nil {
			return err
		}
	}
	if err := root.Chmod(unfinished, mode|0o400); err != nil {
		return err
	}
	return root.Rename(unfinished, target)
}

// mountAll writes the container's data volumes and moves its emptyDirs in, outer mounts first.
func (c *container) mountAll(ctx context.Context, s sandbox, v *volumes) error {
	mounts := slices.Clone(c.spec.VolumeMounts)
	slices.SortStableFunc(mounts, func(a, b corev1.VolumeMount) int { return len(a.MountPath) - len(b.MountPath) })
	for _, m := range mounts {
		volume := volumeNamed(c.pod.object(), m.Name)
		if volume == nil {
			return fmt.Errorf("mount %s: the pod has no volume %q", m.MountPath, m.Name)
		}
		var err error
		if volume.EmptyDir != nil {
			err = c.moveEmptyDir(s, m)
		} else {
			var data content
			if data, err = v.render(ctx, volume); err == nil {
				err = s.mount(m.MountPath, data)
				c.mounted[m.MountPath] = data
			}
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", m.MountPath, err)
		}
	}
	return nil
}

func volumeNamed(p *corev1.Pod, name string) *corev1.Volume {
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Name == name {
			return &p.Spec.Volumes[i]
		}
	}
	return nil
}
