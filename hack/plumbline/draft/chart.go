package draft

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/install"
)

// Helm runs Helm's command with its standard input. It returns the standard output.
type Helm func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)

// Chart is a Helm chart that can be rendered.
type Chart struct {
	helm Helm
	path string         // of its folder or archive
	Name string         // of the chart
	all  map[string]any // its values, with their defaults
}

// Open reads the chart in a folder or an archive.
func Open(ctx context.Context, helm Helm, path string) (*Chart, error) {
	c := &Chart{helm: helm, path: path}
	var about struct{ Name string }
	if err := c.show(ctx, "chart", &about); err != nil {
		return nil, err
	}
	c.Name = about.Name
	return c, c.show(ctx, "values", &c.all)
}

func (c *Chart) show(ctx context.Context, what string, into any) error {
	raw, err := c.helm(ctx, nil, "show", what, c.path)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("what `helm show %s` prints is not YAML: %w", what, err)
	}
	return nil
}

// crds returns the CRDs in the chart's folder crds, as YAML documents.
func (c *Chart) crds(ctx context.Context) ([]byte, error) {
	return c.helm(ctx, nil, "show", "crds", c.path)
}

// rendered is what a chart renders of the controller.
type rendered struct {
	deployments []string
	controller  corev1.PodSpec
	container   corev1.Container // the controller's
	replicas    int64
}

// render renders the chart with these values, by their paths.
func (c *Chart) render(ctx context.Context, values map[string]any) (*rendered, error) {
	raw, err := yaml.Marshal(nested(values))
	if err != nil {
		return nil, err
	}
	out, err := c.helm(ctx, raw, "template", "karpenter", c.path, "--namespace", "kube-system", "--skip-tests",
		"--values", "-")
	if err != nil {
		return nil, err
	}
	objects, err := install.ParseObjects(out)
	if err != nil {
		return nil, err
	}
	r := &rendered{}
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		r.deployments = append(r.deployments, o.GetName())
		if len(r.deployments) > 1 {
			continue
		}
		if err := r.read(o); err != nil {
			return nil, fmt.Errorf("the chart's Deployment %s: %w", o.GetName(), err)
		}
	}
	if len(r.deployments) == 0 {
		return nil, errors.New("the chart renders no Deployment: is it the controller's, or only that of its CRDs?")
	}
	return r, nil
}

// read reads a Deployment.
func (r *rendered) read(deployment *unstructured.Unstructured) error {
	r.replicas = 1
	if n, there, err := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "replicas"); err == nil && there {
		r.replicas = number(n)
	}
	spec, _, err := unstructured.NestedMap(deployment.Object, "spec", "template", "spec")
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &r.controller); err != nil {
		return err
	}
	containers, _, err := unstructured.NestedSlice(spec, "containers")
	if err != nil || len(containers) == 0 {
		return errors.New("it has no containers")
	}
	container, err := install.ControllerContainer(containers)
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(container, &r.container)
}

// env returns the literal environment of the controller.
func (r *rendered) env() map[string]string {
	all := map[string]string{}
	for _, e := range r.container.Env {
		if e.ValueFrom == nil {
			all[e.Name] = e.Value
		}
	}
	return all
}

// port returns the number of the container's port of that name, or 0.
func (r *rendered) port(name string) int64 {
	for _, p := range r.container.Ports {
		if p.Name == name {
			return int64(p.ContainerPort)
		}
	}
	return 0
}

// leaf is a scalar or empty value of a chart.
type leaf struct {
	path  string // such as controller.metrics.port
	value any
}

// leaves returns the values of a chart, in the order of their paths.
func (c *Chart) leaves() []leaf {
	var all []leaf
	collect(c.all, "", &all)
	return all
}

func collect(m map[string]any, prefix string, all *[]leaf) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.Contains(key, ".") {
			continue // no path can name it
		}
		switch v := m[key].(type) {
		case map[string]any:
			collect(v, prefix+key+".", all)
		case []any:
		default:
			*all = append(*all, leaf{prefix + key, v})
		}
	}
}

// nested turns values by paths into a tree.
func nested(values map[string]any) map[string]any {
	tree := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		_ = unstructured.SetNestedField(tree, values[path], strings.Split(path, ".")...) // paths of leaves never collide
	}
	return tree
}
