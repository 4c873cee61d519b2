package image

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// InRegistry reports whether a reference names an image in a registry. It doesn't ask the
// registry.
func InRegistry(ref string) bool {
	if strings.HasPrefix(ref, "oci:") || strings.HasPrefix(ref, "docker:") || looksLikePath(ref) {
		return false
	}
	if _, err := os.Stat(ref); err == nil {
		return false
	}
	_, err := name.ParseReference(ref)
	return err == nil
}

// Pinned returns the name of a registry's image with its present digest.
func Pinned(ctx context.Context, ref string) (string, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return "", fmt.Errorf("image %q: %w", ref, err)
	}
	if _, pinned := parsed.(name.Digest); pinned {
		return ref, nil
	}
	found, err := remote.Head(parsed, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return "", fmt.Errorf("image %q: %w", ref, explain(err))
	}
	return fmt.Sprintf("%s@%s", parsed.Name(), found.Digest), nil
}

// Push writes the image for ref (see Open) to a registry below path, such as
// registry.example/team. It returns the name to pull, with the digest. Credentials come from
// docker's configuration.
func Push(ctx context.Context, ref, path string) (pulled string, err error) {
	img, err := Open(ctx, ref)
	if err != nil {
		return "", err
	}
	to, err := tagBelow(path, Name(ref, Digest(img)))
	if err != nil {
		return "", err
	}
	if err := remote.Write(to, img, remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("pushing image %q to %s: %w", ref, to, explain(err))
	}
	return fmt.Sprintf("%s@%s", to.Name(), Digest(img)), nil
}

// MayPush checks that images can be pushed below the path.
func MayPush(path string) error {
	to, err := tagBelow(path, registry+"image:latest")
	if err != nil {
		return err
	}
	if err := remote.CheckPushPermission(to, authn.DefaultKeychain, http.DefaultTransport); err != nil {
		return fmt.Errorf("nothing can be pushed to %s: %w", path, explain(err))
	}
	return nil
}

// tagBelow returns the tag for a name that Name made, below a registry's path.
func tagBelow(path, made string) (name.Tag, error) {
	to, err := name.NewTag(strings.TrimSuffix(path, "/")+"/plumbline-"+strings.TrimPrefix(made, registry),
		name.StrictValidation)
	if err != nil {
		return to, fmt.Errorf("%q is no place in a registry such as registry.example/team: %w", path, err)
	}
	return to, nil
}
