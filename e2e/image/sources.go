package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

func openLayout(path string, want v1.Platform) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(path)
	if errors.Is(err, os.ErrNotExist) {
		if _, statErr := os.Stat(path); statErr != nil {
			return nil, fmt.Errorf("opening it as an OCI layout: %w", statErr)
		}
		return nil, errors.New("is a folder but no OCI layout: it has no index.json")
	}
	if err != nil {
		return nil, fmt.Errorf("opening it as an OCI layout: %w", err)
	}
	return imageFor(index, want)
}

// openRegistry resolves an index here, so that the error for a missing platform lists the
// others.
func openRegistry(ctx context.Context, ref name.Reference, want v1.Platform) (v1.Image, error) {
	found, err := remote.Get(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return nil, explain(err)
	}
	if !found.MediaType.IsIndex() {
		return found.Image()
	}
	index, err := found.ImageIndex()
	if err != nil {
		return nil, err
	}
	return imageFor(index, want)
}

// explain adds the cause in words to a registry's error.
func explain(err error) error {
	answer, ok := errors.AsType[*transport.Error](err)
	if !ok {
		return err
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("it has no such image: %w", err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("unauthorized, or it has no such image (credentials come from docker's configuration: try docker "+
			"login): %w", err)
	default:
		return err
	}
}

// openDocker saves the daemon's image into an unnamed file, so that a killed process leaves
// nothing behind.
func openDocker(ctx context.Context, ref string, want v1.Platform) (v1.Image, error) {
	docker, err := exec.LookPath("docker")
	if err != nil {
		return nil, errors.New("there is no docker command")
	}
	file, err := unnamed()
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	save := exec.CommandContext(ctx, docker, "image", "save", "--", ref)
	save.Stdout, save.Stderr = file, &said
	if err := save.Run(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("docker image save: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return readArchive(file, want)
}
