package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// openArchive opens a tar file, gzipped or not.
func openArchive(ctx context.Context, file string, want v1.Platform) (v1.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	plain, err := gunzip(ctx, f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("decompressing it: %w", err)
	}
	img, err := readArchive(plain, want)
	if err != nil {
		_ = plain.Close()
		return nil, err
	}
	return img, nil
}

// readArchive opens an archive of either kind. Docker 25 and later write both in one file; the
// OCI layout is preferred, because it has the manifest. The image reads from f, which the
// garbage collector closes with it.
func readArchive(f *os.File, want v1.Platform) (v1.Image, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	all := io.NewSectionReader(f, 0, info.Size())
	entries, err := list(all)
	if err != nil {
		return nil, fmt.Errorf("is no image: not a tar archive: %w", err)
	}
	if index, ok := entries["index.json"]; ok {
		raw, err := io.ReadAll(io.NewSectionReader(all, index.offset, index.size))
		if err != nil {
			return nil, err
		}
		return imageFor(&archiveIndex{raw: raw, blobs: archiveBlobs{file: all, entries: entries}}, want)
	}
	if _, ok := entries["manifest.json"]; !ok {
		return nil,
			errors.New("is no image: the archive has neither an index.json (OCI layout) nor a manifest.json (docker save)")
	}
	return tarball.Image(func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(all, 0, info.Size())), nil
	}, nil)
}

// span is the place of a file in an archive, in bytes.
type span struct{ offset, size int64 }

// list returns the files of a plain tar.
func list(archive *io.SectionReader) (map[string]span, error) {
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	entries := map[string]span{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		offset, err := archive.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeReg {
			entries[path.Clean(header.Name)] = span{offset: offset, size: header.Size}
		}
	}
}

// gunzip returns f if it isn't gzipped, or else an unnamed file with the plain content.
func gunzip(ctx context.Context, f *os.File) (*os.File, error) {
	magic := make([]byte, 2)
	if n, _ := f.ReadAt(magic, 0); n < len(magic) || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return f, nil // the caller checks what it is
	}
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	plain, err := unnamed()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(plain, stopped{ctx: ctx, Reader: r}); err != nil {
		_ = plain.Close()
		return nil, err
	}
	return plain, f.Close()
}

// unnamed returns a temporary file that disappears when it is closed.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "plumbline-image-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// stopped is a reader that fails once ctx is done.
type stopped struct {
	ctx context.Context
	io.Reader
}

func (s stopped) Read(p []byte) (int, error) {
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}
