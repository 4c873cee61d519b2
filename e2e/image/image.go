// Package image opens container images, checks that they fit this machine, and unpacks them
// into a folder. It needs no container runtime and no privileges.
//
//	img, err := image.Open(ctx, "public.ecr.aws/karpenter/controller:1.14.0")
//	...
//	err = image.Unpack(ctx, img, "/var/tmp/karpenter")
//
// # References
//
// Open tries these forms in this order. A prefix selects one form only.
//
//	./build/karpenter, oci:build/karpenter   a folder with an OCI image layout
//	./karpenter.tar                          an archive: docker save, or an OCI layout in a tar; gzip or not
//	docker:karpenter:dev                     an image of the docker command
//	public.ecr.aws/karpenter/controller:1.14 a registry; credentials come from docker's configuration
//
// If a registry doesn't return the image, Open tries the Docker daemon. From an index it
// selects the image for linux and this machine's architecture.
//
// The package runs the docker command: docker's library brings 16 modules to every importer,
// and the command knows the user's contexts.
package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Open finds the image for ref (see the package comment) and checks that it is for linux and
// this machine's architecture. It reads layers only on use, so an image in a registry needs
// ctx until it is unpacked. The error names each form tried and its result.
func Open(ctx context.Context, ref string) (v1.Image, error) {
	img, err := find(ctx, ref, v1.Platform{OS: "linux", Architecture: runtime.GOARCH})
	if err != nil {
		return nil, fmt.Errorf("image %q: %w", ref, err)
	}
	if err := Check(img, "linux", runtime.GOARCH); err != nil {
		return nil, fmt.Errorf("image %q: %w", ref, err)
	}
	return img, nil
}

// Check returns an error if the image is not for goos and goarch, in Go's names. A config
// without an operating system or architecture passes.
func Check(img v1.Image, goos, goarch string) error {
	config, err := img.ConfigFile()
	if err != nil {
		return fmt.Errorf("reading its config: %w", err)
	}
	if config.OS != "" && config.OS != goos {
		return fmt.Errorf("is for %s, needed is %s", config.OS, goos)
	}
	if config.Architecture != "" && config.Architecture != goarch {
		return fmt.Errorf("is for %s, this machine is %s", config.Architecture, goarch)
	}
	return nil
}

// Digest returns the digest of the image's manifest ("sha256:..."), or "" if the image can't
// be read. For an archive of an old docker save, it reads and compresses every layer.
func Digest(img v1.Image) string {
	hash, err := img.Digest()
	if err != nil {
		return ""
	}
	return hash.String()
}

func find(ctx context.Context, ref string, want v1.Platform) (v1.Image, error) {
	if path, ok := strings.CutPrefix(ref, "oci:"); ok {
		return openLayout(path, want)
	}
	if docker, ok := strings.CutPrefix(ref, "docker:"); ok {
		return openDocker(ctx, docker, want)
	}
	if ref == "" {
		return nil, errors.New("the reference is empty; wanted a folder with an OCI layout, an archive, docker:<name>, or " +
			"the name of a registry's image")
	}
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return openLayout(ref, want)
	case err == nil:
		return openArchive(ctx, ref, want)
	case !errors.Is(err, os.ErrNotExist) || looksLikePath(ref):
		return nil, fmt.Errorf("opening it as a file: %w", err)
	}
	return openNamed(ctx, ref, want)
}

// openNamed tries the registry and then the Docker daemon.
func openNamed(ctx context.Context, ref string, want v1.Platform) (v1.Image, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, fmt.Errorf("no such file or folder, and not a valid image name: %w", err)
	}
	img, registryErr := openRegistry(ctx, parsed, want)
	if registryErr == nil {
		return img, nil
	}
	if _, wrong := errors.AsType[*wrongPlatform](registryErr); wrong || ctx.Err() != nil {
		return nil, registryErr
	}
	img, dockerErr := openDocker(ctx, ref, want)
	if dockerErr == nil {
		return img, nil
	}
	return nil, fmt.Errorf("not found; tried:\n  file or folder: there is no %s\n  registry %s: %w\n  docker: %w",
		ref, parsed.Context().RegistryStr(), registryErr, dockerErr)
}

func looksLikePath(ref string) bool {
	if filepath.IsAbs(ref) || strings.HasPrefix(ref, ".") || strings.HasPrefix(ref, "~") {
		return true
	}
	for _, end := range []string{".tar", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(ref, end) {
			return true
		}
	}
	return false
}
