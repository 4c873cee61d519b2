package image

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// wrongPlatform is the error for an index without an image for this machine.
type wrongPlatform struct {
	want v1.Platform
	have []string
}

func (w *wrongPlatform) Error() string {
	return fmt.Sprintf("has no image for %s/%s; it has %s",
		w.want.OS, w.want.Architecture, strings.Join(w.have, ", "))
}

// imageFor returns the only image for the platform in an index and its nested ones. If a
// manifest has no platform, as often in layouts of one image, it reads the image's config.
func imageFor(index v1.ImageIndex, want v1.Platform) (v1.Image, error) {
	found, have, err := candidates(index, want)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("holds %d images for %s/%s; wanted exactly one", len(found), want.OS, want.Architecture)
	case len(have) == 0:
		return nil, errors.New("holds no image")
	default:
		slices.Sort(have)
		return nil, &wrongPlatform{want: want, have: slices.Compact(have)}
	}
}

// candidates returns the images for the platform, and the platforms of the other images.
func candidates(index v1.ImageIndex, want v1.Platform) (found []v1.Image, have []string, err error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, nil, fmt.Errorf("reading its index: %w", err)
	}
	for _, d := range manifest.Manifests {
		if d.MediaType.IsIndex() {
			nested, err := index.ImageIndex(d.Digest)
			if err != nil {
				return nil, nil, fmt.Errorf("reading the index %s: %w", d.Digest, err)
			}
			f, h, err := candidates(nested, want)
			if err != nil {
				return nil, nil, err
			}
			found, have = append(found, f...), append(have, h...)
			continue
		}
		if !d.MediaType.IsImage() {
			continue
		}
		img, platform, err := describe(index, d)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case platform.OS == "unknown": // an attestation, not an image
		case platform.OS == want.OS && platform.Architecture == want.Architecture:
			found = append(found, img)
		default:
			have = append(have, platform.OS+"/"+platform.Architecture)
		}
	}
	return found, have, nil
}

// describe returns an image of an index and its platform.
func describe(index v1.ImageIndex, d v1.Descriptor) (v1.Image, v1.Platform, error) {
	img, err := index.Image(d.Digest)
	if err != nil {
		return nil, v1.Platform{}, fmt.Errorf("reading the manifest %s: %w", d.Digest, err)
	}
	if d.Platform != nil && d.Platform.OS != "" {
		return img, *d.Platform, nil
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, v1.Platform{}, fmt.Errorf("reading the config of %s: %w", d.Digest, err)
	}
	return img, v1.Platform{OS: config.OS, Architecture: config.Architecture}, nil
}
