package image

import (
	"bytes"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// archiveBlobs holds the blobs of an OCI layout in a tar file. The library reads layouts only
// from folders.
type archiveBlobs struct {
	file    *io.SectionReader
	entries map[string]span
}

func (b archiveBlobs) open(h v1.Hash) (*io.SectionReader, error) {
	at, ok := b.entries["blobs/"+h.Algorithm+"/"+h.Hex]
	if !ok {
		return nil, fmt.Errorf("the archive lacks the blob %s", h)
	}
	return io.NewSectionReader(b.file, at.offset, at.size), nil
}

func (b archiveBlobs) read(h v1.Hash) ([]byte, error) {
	r, err := b.open(h)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// archiveIndex is an index of an archiveBlobs.
type archiveIndex struct {
	raw   []byte
	blobs archiveBlobs
}

func (i *archiveIndex) MediaType() (types.MediaType, error) { return types.OCIImageIndex, nil }
func (i *archiveIndex) Digest() (v1.Hash, error)            { return partial.Digest(i) }
func (i *archiveIndex) Size() (int64, error)                { return int64(len(i.raw)), nil }
func (i *archiveIndex) RawManifest() ([]byte, error)        { return i.raw, nil }

func (i *archiveIndex) IndexManifest() (*v1.IndexManifest, error) {
	return v1.ParseIndexManifest(bytes.NewReader(i.raw))
}

func (i *archiveIndex) Image(h v1.Hash) (v1.Image, error) {
	raw, err := i.blobs.read(h)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&archiveImage{raw: raw, blobs: i.blobs})
}

func (i *archiveIndex) ImageIndex(h v1.Hash) (v1.ImageIndex, error) {
	raw, err := i.blobs.read(h)
	if err != nil {
		return nil, err
	}
	return &archiveIndex{raw: raw, blobs: i.blobs}, nil
}

// archiveImage has the methods from which the library makes an image.
type archiveImage struct {
	raw   []byte
	blobs archiveBlobs
}

func (i *archiveImage) RawManifest() ([]byte, error) { return i.raw, nil }

func (i *archiveImage) MediaType() (types.MediaType, error) {
	manifest, err := partial.Manifest(i)
	if err != nil {
		return "", err
	}
	return manifest.MediaType, nil
}

func (i *archiveImage) RawConfigFile() ([]byte, error) {
	manifest, err := partial.Manifest(i)
	if err != nil {
		return nil, err
	}
	return i.blobs.read(manifest.Config.Digest)
}

func (i *archiveImage) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	manifest, err := partial.Manifest(i)
	if err != nil {
		return nil, err
	}
	for _, d := range manifest.Layers {
		if d.Digest == h {
			return &archiveLayer{blobs: i.blobs, descriptor: d}, nil
		}
	}
	return nil, fmt.Errorf("the manifest has no layer %s", h)
}

type archiveLayer struct {
	blobs      archiveBlobs
	descriptor v1.Descriptor
}

func (l *archiveLayer) Digest() (v1.Hash, error)            { return l.descriptor.Digest, nil }
func (l *archiveLayer) Size() (int64, error)                { return l.descriptor.Size, nil }
func (l *archiveLayer) MediaType() (types.MediaType, error) { return l.descriptor.MediaType, nil }
func (l *archiveLayer) Descriptor() (*v1.Descriptor, error) { return &l.descriptor, nil }

func (l *archiveLayer) Compressed() (io.ReadCloser, error) {
	r, err := l.blobs.open(l.descriptor.Digest)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}
