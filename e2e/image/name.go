package image

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// registry is a made-up host for the names of loaded images, from which nothing can be pulled.
const registry = "plumbline.local/"

var (
	notInNames = regexp.MustCompile(`[^a-z0-9]+`)
	beside     = regexp.MustCompile(
		`^(oci|docker|binary):|@.*$|\.(tar|tgz|tar\.gz)$`) // parts of a reference to drop
)

// Name returns an image's name on nodes: the last word of the reference, with twelve digits of
// the digest as the tag.
func Name(ref, digest string) string {
	last, _, _ := strings.Cut(path.Base(beside.ReplaceAllString(ref, "")), ":")
	last = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(last), "-"), "-")
	if last == "" {
		last = "image"
	}
	_, hash, _ := strings.Cut(digest, ":")
	return registry + last + ":" + hash[:12]
}

// Archive writes the image under the given name, as `docker save` does.
func Archive(img v1.Image, called string, w io.Writer) error {
	tag, err := name.NewTag(called)
	if err != nil {
		return fmt.Errorf("the name %q: %w", called, err)
	}
	return tarball.Write(tag, img, w)
}
