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

// Unpack writes the image's file system into dir, which it creates: layer
// upon layer, with whiteouts, symbolic and hard links, and each layer's content
// verified against the digest in the image's config.
//
// Nothing is written outside dir, whatever the layers hold: names and link
// targets are resolved as if dir were the root, and an os.Root guards the rest.
//
// It needs no privileges. So owners, device nodes, sockets, extended
// attributes and set-user-id bits are left out, and a folder's owner can always
// write into it.
//
// [github.com/google/go-containerregistry/pkg/v1/mutate.Extract] does not do
// this: it reads the layers from the top down, so that a file behind a link of a
// lower layer is lost, and a hard link shows what a later layer made of its
// target. Nor does it verify what it reads.
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
	if _, err := io.Copy(io.Discard, stream); err != nil { // padding behind the archive
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want.Hex {
		return fmt.Errorf("its content is not what the image promises: digest sha256:%s, wanted %s", got, want)
	}
	return nil
}

// unpacker writes one layer.
type unpacker struct {
	root    *os.Root
	written map[string]bool // what this layer brought, which its own opaque whiteout spares
}

// Whiteouts, as the OCI image specification (layer.md) has them.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
	aufs     = ".wh..wh." // what AUFS keeps for itself
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
	default: // devices, pipes: nothing that an unprivileged user could make
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
	if err := f.Chmod(mode); err != nil { // past the umask
		_ = f.Close()
		return err
	}
	return f.Close()
}

// mark remembers a path and the folders that lead to it.
func (u *unpacker) mark(name string) {
	for ; name != "." && !u.written[name]; name = path.Dir(name) {
		u.written[name] = true
	}
}

// empty removes from a folder what lower layers brought. The whiteout may
// stand behind the layer's own files.
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
