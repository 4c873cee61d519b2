package hostnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// BinaryPrefix marks a reference to an executable of this machine; see [Node.Load].
const BinaryPrefix = cluster.BinaryPrefix

// loaded is an image that is ready to run: unpacked in rootfs, or a binary of the host.
type loaded struct {
	name   string
	digest string
	rootfs string // empty for a binary
	config v1.Config
}

// images holds the loaded images by name.
type images struct {
	dir string

	loading sync.Mutex // held while loading, so that an image is unpacked once
	mu      sync.Mutex
	byName  map[string]*loaded
	more    chan struct{} // closed and replaced when an image is added
}

func newImages(dir string) *images {
	return &images{dir: dir, byName: map[string]*loaded{}, more: make(chan struct{})}
}

// lookup returns the image, or an error that lists the loaded ones. The channel is closed when
// another image is added.
func (i *images) lookup(name string) (*loaded, <-chan struct{}, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if found, ok := i.byName[name]; ok {
		return found, i.more, nil
	}
	have := "none"
	if len(i.byName) > 0 {
		have = strings.Join(slices.Sorted(maps.Keys(i.byName)), ", ")
	}
	return nil, i.more, fmt.Errorf(
		"image %q is not loaded on this node, which pulls by itself only what is named by its digest; loaded: %s", name, have)
}

func (i *images) add(l *loaded) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.byName[l.name] = l
	close(i.more)
	i.more = make(chan struct{})
	return l.name
}

// isRegistryImage reports whether a name is of a registry's image with a digest. Such an image
// can't change; one with only a tag can.
func isRegistryImage(name string) bool {
	return strings.Contains(name, "@sha256:") && image.InRegistry(name)
}

// pull loads an image under its name in the registry, unless it is loaded already.
func (i *images) pull(ctx context.Context, name string) error {
	i.loading.Lock()
	defer i.loading.Unlock()
	if _, _, err := i.lookup(name); err == nil {
		return nil
	}
	l, err := i.open(ctx, name)
	if err != nil {
		return err
	}
	l.name = name
	i.add(l)
	return nil
}

func (i *images) load(ctx context.Context, ref string) (string, error) {
	i.loading.Lock()
	defer i.loading.Unlock()
	if file, ok := strings.CutPrefix(ref, BinaryPrefix); ok {
		l, err := i.binary(file)
		if err != nil {
			return "", fmt.Errorf("loading %s: %w", ref, err)
		}
		return i.add(l), nil
	}
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("loading image %q: images run on Linux only; wanted %s<path of an executable for %s/%s>",
			ref, BinaryPrefix, runtime.GOOS, runtime.GOARCH)
	}
	l, err := i.open(ctx, ref)
	if err != nil {
		return "", err
	}
	return i.add(l), nil
}

// open opens an image and unpacks it.
func (i *images) open(ctx context.Context, ref string) (*loaded, error) {
	img, err := image.Open(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("loading: %w", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("loading image %q: reading its config: %w", ref, err)
	}
	digest := image.Digest(img)
	if digest == "" {
		return nil, fmt.Errorf("loading image %q: it has no digest", ref)
	}
	l := &loaded{
		name: image.Name(ref, digest), digest: digest, config: config.Config,
		rootfs: filepath.Join(i.dir, strings.ReplaceAll(digest, ":", "-")),
	}
	if err := i.unpack(ctx, img, l.rootfs); err != nil {
		return nil, fmt.Errorf("loading image %q: %w", ref, err)
	}
	return l, nil
}

// unpack leaves a complete file system or none.
func (i *images) unpack(ctx context.Context, img v1.Image, rootfs string) error {
	if _, err := os.Stat(rootfs); err == nil {
		return nil
	}
	unfinished := rootfs + ".unfinished"
	if err := errors.Join(os.RemoveAll(unfinished), os.MkdirAll(i.dir, 0o755)); err != nil {
		return err
	}
	if err := image.Unpack(ctx, img, unfinished); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	return os.Rename(unfinished, rootfs)
}

// binary makes an image from an executable of this machine. It runs a link in the node's
// folder, which shows whose process it is.
func (i *images) binary(file string) (*loaded, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return nil, errors.New("is no executable file")
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return nil, err
	}
	digest := "sha256:" + hex.EncodeToString(hash.Sum(nil))
	link := filepath.Join(i.dir, strings.ReplaceAll(digest, ":", "-"), filepath.Base(file))
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil { //nolint:gosec // the pod's user must get there
		return nil, err
	}
	if err := os.Symlink(file, link); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return &loaded{name: image.Name(file, digest), digest: digest, config: v1.Config{Entrypoint: []string{link}}}, nil
}
