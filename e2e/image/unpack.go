package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Unpack writes the image's file system into dir, which it creates. It applies layers in
// order, with whiteouts, symbolic and hard links. It verifies each layer against the image's
// config.
//
// It never writes outside dir: it resolves names and link targets with dir as the root, and
// uses an os.Root.
//
// It needs no privileges. So it skips owners, device nodes, sockets, extended attributes and
// set-user-id bits, and it makes each folder writable for its owner.
//
// [github.com/google/go-containerregistry/pkg/v1/mutate.Extract] reads layers from the top
// down: it loses a file behind a link of a lower layer, and a hard link gets the content of a
// later layer. It also verifies nothing.
func Unpack(ctx context.Context, img v1.Image, dir string) error {
	layers, err := img.Layers()
	if err != nil {
		return fmt.Errorf("unpacking: reading the list of layers: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	defer func() { _ = root.Close() }()
	for i, layer := range layers {
		if err := unpackLayer(ctx, root, layer); err != nil {
			return fmt.Errorf("unpacking layer %d of %d into %s: %w", i+1, len(layers), dir, err)
		}
	}
	return nil
}

func unpackLayer(ctx context.Context, root *os.Root, layer v1.Layer) error {
	want, err := layer.DiffID()
	if err != nil {
		return err
	}
	content, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	hash := sha256.New()
	stream := io.TeeReader(stopped{ctx: ctx, Reader: content}, hash)

	u := unpacker{root: root, written: map[string]bool{}}
	for entries := tar.NewReader(stream); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := u.entry(header, entries); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	if _, err := io.Copy(io.Discard, stream); err != nil { // padding after the archive
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want.Hex {
		return fmt.Errorf("the layer's content does not match the image config: digest sha256:%s, want %s", got, want)
	}
	return nil
}

// unpacker unpacks one layer.
type unpacker struct {
	root    *os.Root
	written map[string]bool // paths of this layer; its opaque whiteouts keep them
}

// Whiteouts of the OCI image specification (layer.md).
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
	aufs     = ".wh..wh." // internal files of AUFS
)

func (u *unpacker) entry(header *tar.Header, content io.Reader) error {
	name := clean(header.Name)
	if name == "." {
		return nil
	}
	parent, err := Resolve(u.root, path.Dir(name))
	if err != nil {
		return err
	}
	base := path.Base(name)
	switch {
	case base == opaque:
		return u.empty(parent)
	case strings.HasPrefix(base, aufs):
		return nil
	case strings.HasPrefix(base, whiteout):
		gone := strings.TrimPrefix(base, whiteout)
		if gone == "" || gone == "." || gone == ".." {
			return errors.New("is a whiteout of no file")
		}
		return u.root.RemoveAll(path.Join(parent, gone))
	}
	if err := u.root.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	return u.write(path.Join(parent, base), header, content)
}

func (u *unpacker) write(target string, header *tar.Header, content io.Reader) error {
	u.mark(target)
	mode := header.FileInfo().Mode().Perm()
	old, err := u.root.Lstat(target)
	if err == nil && !(old.IsDir() && header.Typeflag == tar.TypeDir) {
		if err := u.root.RemoveAll(target); err != nil {
			return err
		}
	}
	switch header.Typeflag {
	case tar.TypeDir:
		if err := u.root.MkdirAll(target, 0o755); err != nil {
			return err
		}
		return u.root.Chmod(target, mode|0o700)
	case tar.TypeReg:
		return u.file(target, mode|0o400, content)
	case tar.TypeSymlink:
		return u.root.Symlink(header.Linkname, target)
	case tar.TypeLink:
		link := clean(header.Linkname)
		parent, err := Resolve(u.root, path.Dir(link))
		if err != nil {
			return err
		}
		return u.root.Link(path.Join(parent, path.Base(link)), target)
	default: // devices, pipes: they need privileges
		return nil
	}
}

func (u *unpacker) file(target string, mode os.FileMode, content io.Reader) error {
	f, err := u.root.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Chmod(mode); err != nil { // regardless of the umask
		_ = f.Close()
		return err
	}
	return f.Close()
}

// mark records a path and its parent folders as written.
func (u *unpacker) mark(name string) {
	for ; name != "." && !u.written[name]; name = path.Dir(name) {
		u.written[name] = true
	}
}

// empty removes the lower layers' content from a folder. The whiteout can come after the
// layer's own files.
func (u *unpacker) empty(folder string) error {
	dir, err := u.root.Open(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	_ = dir.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case !u.written[name]:
			err = u.root.RemoveAll(name)
		case e.IsDir():
			err = u.empty(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
