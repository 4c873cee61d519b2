// Package kwok runs KWOK in a cluster, for backends whose clusters run pods. KWOK simulates
// the kubelets of nodes with the annotation kwok.x-k8s.io/node=fake.
package kwok

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/e2e-framework/klient/decoder"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// Deployment is the name of KWOK's Deployment.
const Deployment = "kwok-controller"

const (
	readyWithin = 2 * time.Minute
	readyPoll   = 250 * time.Millisecond
)

// user is the image's user, as in those of KWOK's releases that don't run as root.
const user = "65532"

//go:embed kwok.yaml
var manifest string

// Release is the pinned release of KWOK.
type Release struct {
	// Image is a reference to its image, for image.Open.
	Image string
	// stages define the life cycle of its nodes and pods, as kwokctl configures it but for heartbeats.
	stages string
}

// published is the repository of KWOK's released images.
const published = "registry.k8s.io/kwok/kwok"

// Published returns the pinned release with the image that KWOK's project has published.
func Published(ctx context.Context, c *build.Cache) (r Release, err error) {
	source, err := c.PinnedModule(ctx, "kwok")
	if err != nil {
		return r, err
	}
	_, version, _ := strings.Cut(filepath.Base(source), "@")
	r.Image = published + ":" + version
	r.stages, err = stages(source)
	return r, err
}

// Prepare returns the pinned release. It builds the image if it isn't in the cache.
func Prepare(ctx context.Context, c *build.Cache) (r Release, err error) {
	programs, err := c.PinnedFor(ctx, "kwok", "linux")
	if err != nil {
		return r, err
	}
	if r, err = Published(ctx, c); err != nil {
		return r, err
	}
	r.Image, err = image.KeptFromBinary(ctx, c.ImageOf(programs), filepath.Join(programs, "kwok"), user)
	return r, c.Explain(ctx, "image", "200 MB", err)
}

// stages reads the life cycle of nodes and pods from KWOK's source. Heartbeats are left out: leases
// suffice, and a heartbeat that was due would say that a node is ready whose kubelet a spec has silenced.
func stages(source string) (string, error) {
	var all []string
	for _, file := range []string{
		"node/fast/node-initialize.yaml",
		"pod/fast/pod-ready.yaml", "pod/fast/pod-complete.yaml", "pod/fast/pod-delete.yaml",
	} {
		stage, err := os.ReadFile(filepath.Join(source, "kustomize", "stage", filepath.FromSlash(file)))
		if err != nil {
			return "", fmt.Errorf("a stage of KWOK's: %w", err)
		}
		all = append(all, string(stage))
	}
	return strings.Join(all, "\n---\n"), nil
}

// Objects returns the objects that make up KWOK, its own namespace first. The cluster's nodes
// must know the image's name.
func (r Release) Objects(ctx context.Context, namespace, imageName string) ([]k8s.Object, error) {
	parsed, err := template.New("kwok.yaml").Parse(manifest)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, map[string]string{"Namespace": namespace, "Image": imageName}); err != nil {
		return nil, err
	}
	objects, err := decoder.DecodeAll(ctx, &text)
	if err != nil {
		return nil, err
	}
	objects = append(objects, &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "kwok", Namespace: namespace},
		Data:       map[string]string{"kwok.yaml": r.stages},
	})
	for _, o := range objects {
		cluster.Own(o)
	}
	return objects, nil
}

// Install runs KWOK in a namespace of its own, and waits until it is ready. Of its Objects,
// only the namespace may exist already.
func (r Release) Install(ctx context.Context, config *rest.Config, namespace, imageName string) error {
	objects, err := r.Objects(ctx, namespace, imageName)
	if err != nil {
		return err
	}
	client, err := resources.New(config)
	if err != nil {
		return err
	}
	for i, o := range objects {
		if err := client.Create(ctx, o); err != nil && (i > 0 || !apierrors.IsAlreadyExists(err)) {
			return fmt.Errorf("installing KWOK: %w", err)
		}
	}
	err = wait.For(conditions.New(client).DeploymentAvailable(Deployment, namespace),
		wait.WithContext(ctx), wait.WithTimeout(readyWithin), wait.WithInterval(readyPoll), wait.WithImmediate())
	if err != nil {
		return fmt.Errorf("KWOK is not ready in namespace %s: %w%s", namespace, err, states(ctx, client, namespace))
	}
	return nil
}

// states returns the status of a namespace's pods and their containers.
func states(ctx context.Context, client *resources.Resources, namespace string) string {
	var pods corev1.PodList
	if err := client.WithNamespace(namespace).List(context.WithoutCancel(ctx), &pods); err != nil {
		return ""
	}
	var lines strings.Builder
	for _, pod := range pods.Items {
		fmt.Fprintf(&lines, "\npod %s: %s %s", pod.Name, pod.Status.Phase, pod.Status.Message)
		for _, c := range pod.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil {
				fmt.Fprintf(&lines, "\n  %s waits: %s %s", c.Name, w.Reason, w.Message)
			}
			if t := c.LastTerminationState.Terminated; t != nil {
				fmt.Fprintf(&lines, "\n  %s ended with exit code %d, %d times: %s", c.Name, t.ExitCode, c.RestartCount, t.Message)
			}
		}
	}
	return lines.String()
}
