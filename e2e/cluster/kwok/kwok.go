// Package kwok runs KWOK in a cluster, for backends whose clusters run pods. It
// plays the kubelets of the nodes that carry the annotation kwok.x-k8s.io/node=fake.
package kwok

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"text/template"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/klient/decoder"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// Deployment is KWOK's name in the cluster.
const Deployment = "kwok-controller"

const (
	readyWithin = 2 * time.Minute
	readyPoll   = 250 * time.Millisecond
)

// user of the image, as of those of KWOK's releases that don't run as root.
const user = "65532"

//go:embed kwok.yaml
var manifest string

// Image returns a reference to KWOK's image, for image.Open. It is made of the
// pinned release, which is built first if it isn't in the cache.
func Image(ctx context.Context, c *build.Cache) (ref string, err error) {
	dir, err := c.PinnedFor(ctx, "kwok", "linux")
	if err != nil {
		return "", err
	}
	return image.KeptFromBinary(ctx, filepath.Join(c.Dir, "images", filepath.Base(dir)), filepath.Join(dir, "kwok"), user)
}

// Install makes KWOK run in a namespace of its own, which must not be there yet, and
// waits until it is ready. The image's name is one that the cluster's nodes know.
func Install(ctx context.Context, config *rest.Config, namespace, imageName string) error {
	parsed, err := template.New("kwok.yaml").Parse(manifest)
	if err != nil {
		return err
	}
	var objects bytes.Buffer
	if err := parsed.Execute(&objects, map[string]string{"Namespace": namespace, "Image": imageName}); err != nil {
		return err
	}
	client, err := resources.New(config)
	if err != nil {
		return err
	}
	if err := decoder.DecodeEach(ctx, &objects, decoder.CreateHandler(client)); err != nil {
		return fmt.Errorf("installing KWOK: %w", err)
	}
	err = wait.For(conditions.New(client).DeploymentAvailable(Deployment, namespace),
		wait.WithContext(ctx), wait.WithTimeout(readyWithin), wait.WithInterval(readyPoll), wait.WithImmediate())
	if err != nil {
		return fmt.Errorf("KWOK is not ready in namespace %s: %w", namespace, err)
	}
	return nil
}
