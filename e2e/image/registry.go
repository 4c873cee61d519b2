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

// InRegistry tells whether a reference (see the package comment) is the name of a
// registry's image, without asking the registry.
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

// Pinned completes the name of a registry's image by the digest that it stands for now.
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

// Push writes the image that ref stands for (see Open) to a registry, below the path
// given, such as registry.example/team, and returns the name by which it is pulled: with
// its digest. Credentials come from docker's configuration.
func Push(ctx context.Context, ref, path string) (pulled string, err error) {
	img, err := Open(ctx, ref)
	if err != nil {
		return "", err
	}
	to, err := under(path, Name(ref, Digest(img)))
	if err != nil {
		return "", err
	}
	if err := remote.Write(to, img, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("pushing image %q to %s: %w", ref, to, explain(err))
	}
	return fmt.Sprintf("%s@%s", to.Name(), Digest(img)), nil
}

// MayPush makes sure that images can be pushed below the path.
func MayPush(path string) error {
	to, err := under(path, registry+"image:latest")
	if err != nil {
		return err
	}
	if err := remote.CheckPushPermission(to, authn.DefaultKeychain, http.DefaultTransport); err != nil {
		return fmt.Errorf("nothing can be pushed to %s: %w", path, explain(err))
	}
	return nil
}

// under is the tag below a registry's path that has the last words of a made-up name.
func under(path, made string) (name.Tag, error) {
	to, err := name.NewTag(strings.TrimSuffix(path, "/")+"/plumbline-"+strings.TrimPrefix(made, registry), name.StrictValidation)
	if err != nil {
		return to, fmt.Errorf("%q is no place in a registry such as registry.example/team: %w", path, err)
	}
	return to, nil
}
