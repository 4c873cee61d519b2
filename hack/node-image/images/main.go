// Command images writes an archive of images, like `docker save`. It needs no engine, which
// would have to store the images under other projects' names:
//
//	images ARCHIVE NAME=LAYER[=ENTRYPOINT]...
//
// Each LAYER is a tar file of an image's whole file system.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: images ARCHIVE NAME=LAYER[=ENTRYPOINT]...")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "✗ images:", err)
		os.Exit(1)
	}
}

func write(archive string, specs []string) error {
	images := map[name.Tag]v1.Image{}
	for _, spec := range specs {
		parts := strings.Split(spec, "=")
		if len(parts) < 2 || len(parts) > 3 {
			return fmt.Errorf("%q is not NAME=LAYER or NAME=LAYER=ENTRYPOINT", spec)
		}
		tag, err := name.NewTag(parts[0])
		if err != nil {
			return err
		}
		if images[tag], err = image(parts[1], parts[2:]); err != nil {
			return fmt.Errorf("%s: %w", parts[0], err)
		}
	}
	return tarball.MultiWriteToFile(archive, images)
}

func image(layer string, entrypoint []string) (v1.Image, error) {
	only, err := tarball.LayerFromFile(layer)
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, only)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Entrypoint: entrypoint, Env: []string{searchPath}}
	return mutate.ConfigFile(img, config)
}
