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

// registry is the made-up host of loaded images' names: nothing could ever be
// pulled from it by accident.
const registry = "plumbline.local/"

var (
	notInNames = regexp.MustCompile(`[^a-z0-9]+`)
	beside     = regexp.MustCompile(`^(oci|docker|binary):|@.*$|\.(tar|tgz|tar\.gz)$`) // of a reference, what names nothing
)

// Name is what an image is called on the nodes that it is loaded on. It is short
// and valid: the last word of the reference, and twelve digits of the digest as
// its tag.
func Name(ref, digest string) string {
	last, _, _ := strings.Cut(path.Base(beside.ReplaceAllString(ref, "")), ":")
	last = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(last), "-"), "-")
	if last == "" {
		last = "image"
	}
	_, hash, _ := strings.Cut(digest, ":")
	return registry + last + ":" + hash[:12]
}

// Archive writes the image as `docker save` does, under the name given.
func Archive(img v1.Image, called string, w io.Writer) error {
	tag, err := name.NewTag(called)
	if err != nil {
		return fmt.Errorf("the name %q: %w", called, err)
	}
	return tarball.Write(tag, img, w)
}
