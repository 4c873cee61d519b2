package image

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// Layer is a layer of an image.
type Layer struct {
	// Files are by their paths in the image, without a leading "/". With one at the end it is an empty folder for all.
	Files map[string]File
	// Compressed is for images that travel. Others are read from this disk soon after they are written, and compressing
	// takes seconds.
	Compressed bool
}

// File is a file of an image: one of this machine, or some content.
type File struct {
	Path    string // on this machine; empty: Content
	Content []byte
	Program bool // it can be executed
}

// FromFiles writes an image "from scratch" as an OCI layout into dir, for Linux and an architecture. It returns the
// reference for Open. The same files and configuration always give the same digest, and files that don't change are
// best in a layer of their own, which is pushed and pulled once. It replaces an older image in dir once the new one
// is complete.
func FromFiles(ctx context.Context, dir, arch string, config v1.Config, layers ...Layer) (ref string, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unfinished)) }()

	created := v1.Time{Time: time.Unix(0, 0).UTC()}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.ConfigFile(img, &v1.ConfigFile{OS: "linux", Architecture: arch, Created: created, Config: config})
	if err != nil {
		return "", err
	}
	for i, l := range layers {
		packed, err := l.pack(ctx, filepath.Join(unfinished, fmt.Sprintf("layer-%d", i)))
		if err != nil {
			return "", fmt.Errorf("packing it: %w", err)
		}
		history := v1.History{Created: created, CreatedBy: "plumbline"}
		if img, err = mutate.Append(img, mutate.Addendum{Layer: packed, History: history}); err != nil {
			return "", err
		}
	}
	finished := filepath.Join(unfinished, "layout")
	path, err := layout.Write(finished, empty.Index)
	if err != nil {
		return "", err
	}
	if err := path.AppendImage(img, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: arch})); err != nil {
		return "", fmt.Errorf("writing the layout: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("replacing the old one: %w", err)
	}
	return "oci:" + dir, os.Rename(finished, dir)
}

// pack writes the layer's tar to file. Owner, times and modes are fixed, so the digest depends
// only on the content.
func (l Layer) pack(ctx context.Context, file string) (_ v1.Layer, err error) {
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()

	packed := &packedLayer{file: file, media: types.OCIUncompressedLayer}
	digest, plain := sha256.New(), sha256.New()
	var to io.WriteCloser = unclosed{io.MultiWriter(out, digest)}
	if l.Compressed {
		packed.media = types.OCILayerZStd
		if to, err = zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
			return nil, err
		}
	}
	archive := tar.NewWriter(io.MultiWriter(to, plain))
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if err := l.Files[name].add(ctx, archive, name); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), to.Close()); err != nil {
		return nil, err
	}
	packed.size, err = out.Seek(0, io.SeekCurrent)
	packed.digest, packed.plain = sum(digest), sum(plain)
	return packed, err
}

// add writes the file to an archive.
func (f File) add(ctx context.Context, archive *tar.Writer, name string) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if strings.HasSuffix(name, "/") {
		header.Typeflag, header.Mode = tar.TypeDir, 0o1777
		return archive.WriteHeader(header)
	}
	if f.Program {
		header.Mode = 0o755
	}
	var content io.Reader = bytes.NewReader(f.Content)
	header.Size = int64(len(f.Content))
	if f.Path != "" {
		in, err := os.Open(f.Path)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		content, header.Size = in, info.Size()
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, stopped{ctx: ctx, Reader: content})
	return err
}

// unclosed is a writer that is closed elsewhere.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func sum(h hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.Sum(nil))}
}

// packedLayer is a layer in a file.
type packedLayer struct {
	file          string
	size          int64
	media         types.MediaType
	digest, plain v1.Hash // of the file, and of the tar
}

func (l *packedLayer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l *packedLayer) DiffID() (v1.Hash, error)            { return l.plain, nil }
func (l *packedLayer) Size() (int64, error)                { return l.size, nil }
func (l *packedLayer) MediaType() (types.MediaType, error) { return l.media, nil }
func (l *packedLayer) Compressed() (io.ReadCloser, error)  { return os.Open(l.file) }

func (l *packedLayer) Uncompressed() (io.ReadCloser, error) {
	in, err := os.Open(l.file)
	if err != nil || l.media == types.OCIUncompressedLayer {
		return in, err
	}
	plain, err := zstd.NewReader(in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return plain.IOReadCloser(), nil
}
