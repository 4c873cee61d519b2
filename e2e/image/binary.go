package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

// KeptFromBinary calls FromBinary without env, unless dir already holds an image. The caller
// must use dir for this binary only. Several processes may call it at once.
func KeptFromBinary(ctx context.Context, dir, binary, user string) (ref string, err error) {
	there := func() bool {
		_, err := openLayout(dir, v1.Platform{OS: "linux", Architecture: runtime.GOARCH})
		return err == nil
	}
	ref = "oci:" + dir
	if there() {
		return ref, nil
	}
	lock, err := filelock.Wait(ctx, dir+".lock", nil)
	if err != nil {
		return "", err
	}
	defer lock.Release()
	if there() { // another run made it
		return ref, nil
	}
	return FromBinary(ctx, dir, binary, nil, user)
}

// FromBinary writes an image "from scratch" as an OCI layout into dir: the binary as
// entrypoint and an empty /tmp. The image has the env ("NAME=value"), the user ("uid" or
// "uid:gid", empty for root), and the binary's operating system and architecture.
//
// It returns the reference for Open. The same binary, env and user always give the same
// digest. It replaces an older image in dir once the new one is complete.
//
// The binary must be a static Linux executable, because the image has no loader. Go builds one
// with CGO_ENABLED=0.
func FromBinary(ctx context.Context, dir, binary string, env []string, user string) (ref string, err error) {
	arch, err := staticLinux(binary)
	if err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unfinished)) }()

	layer, err := pack(ctx, binary, filepath.Join(unfinished, "layer.tar"))
	if err != nil {
		return "", fmt.Errorf("making an image of %s: packing it: %w", binary, err)
	}
	img, err := assemble(layer, v1.ConfigFile{
		OS: "linux", Architecture: arch,
		Created: v1.Time{Time: time.Unix(0, 0).UTC()},
		Config:  v1.Config{Entrypoint: []string{"/" + filepath.Base(binary)}, Env: env, User: user, WorkingDir: "/"},
	})
	if err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	finished := filepath.Join(unfinished, "layout")
	path, err := layout.Write(finished, empty.Index)
	if err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	if err := path.AppendImage(img, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: arch})); err != nil {
		return "", fmt.Errorf("making an image of %s: writing the layout: %w", binary, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("making an image of %s: replacing the old one: %w", binary, err)
	}
	if err := os.Rename(finished, dir); err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	return "oci:" + dir, nil
}

func assemble(layer v1.Layer, config v1.ConfigFile) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(img, &config)
	if err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: config.Created, CreatedBy: "plumbline"},
	})
}

// pack writes the layer's tar to file. Owner, times and modes are fixed, so the digest depends
// only on the binary.
func pack(ctx context.Context, binary, file string) (_ v1.Layer, err error) {
	in, err := os.Open(binary)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()

	hash := sha256.New()
	archive := tar.NewWriter(io.MultiWriter(out, hash))
	for _, header := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777, ModTime: time.Unix(0, 0)},
		{Typeflag: tar.TypeReg, Name: filepath.Base(binary), Mode: 0o755, Size: info.Size(), ModTime: time.Unix(0, 0)},
	} {
		if err := archive.WriteHeader(&header); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(archive, stopped{ctx: ctx, Reader: in}); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	size, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	return &plainLayer{
		file: file, size: size,
		digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(hash.Sum(nil))},
	}, nil
}

// plainLayer is a layer without compression: it is read from this disk soon after it is
// written, and compressing a provider takes seconds.
type plainLayer struct {
	file   string
	size   int64
	digest v1.Hash
}

func (l *plainLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *plainLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *plainLayer) Size() (int64, error)                 { return l.size, nil }
func (l *plainLayer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }
func (l *plainLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l *plainLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.file) }

// staticLinux returns the architecture of a static Linux executable.
func staticLinux(binary string) (arch string, err error) {
	f, err := elf.Open(binary)
	if format, wrong := errors.AsType[*elf.FormatError](err); wrong {
		return "", fmt.Errorf("is no Linux executable (build it with GOOS=linux): %w", format)
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	switch f.Machine {
	case elf.EM_X86_64:
		arch = "amd64"
	case elf.EM_AARCH64:
		arch = "arm64"
	default:
		return "", fmt.Errorf("is for %s; wanted amd64 or arm64", f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", errors.New("is dynamically linked; wanted a static executable (Go: CGO_ENABLED=0)")
		}
	}
	return arch, nil
}
