package install

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// platform is the cluster for which a chart is rendered. Charts choose API versions by it.
// Without it, many choose those of Kubernetes 1.20.
type platform struct {
	kubernetes string   // such as v1.36.3; empty: Helm's default
	apis       []string // group/version, and group/version/kind
}

// released matches stable API versions. Every current cluster serves them.
var released = regexp.MustCompile(`^v\d+$`)

// platformOf returns the APIs that a cluster of this version is known to serve.
func platformOf(kubernetes string) platform {
	p := platform{kubernetes: kubernetes}
	for kind := range scheme.Scheme.AllKnownTypes() {
		if released.MatchString(kind.Version) {
			p.apis = append(p.apis, apiNames(kind)...)
		}
	}
	slices.Sort(p.apis)
	p.apis = slices.Compact(p.apis)
	return p
}

// apiNames returns the names by which a chart may ask for a kind.
func apiNames(kind schema.GroupVersionKind) []string {
	version := kind.GroupVersion().String()
	return []string{version, version + "/" + kind.Kind}
}

// tryManifests renders the manifests with sample values.
func (p *Prepared) tryManifests(ctx context.Context, _ *build.Cache, s Selection) error {
	if m := p.adapter.Management; m != nil {
		if _, err := p.renderFiles(m.Manifests, p.values); err != nil {
			return fmt.Errorf("management: %w", err)
		}
	}
	_, err := p.render(ctx, p.values, platformOf(s.Kubernetes))
	return err
}

// render returns the objects to apply, in order, with the controller's Deployment adjusted.
func (p *Prepared) render(ctx context.Context, v providers.Values, on platform) (*manifests, error) {
	objects, err := p.renderFiles(p.adapter.Controller.Manifests, v)
	if err != nil {
		return nil, err
	}
	if p.chart != "" {
		charted, err := p.renderChart(ctx, v, on)
		if err != nil {
			return nil, err
		}
		objects = append(charted, objects...)
	}
	for _, o := range objects {
		cluster.Own(o)
	}
	return p.adjust(inOrder(objects), v)
}

func (p *Prepared) renderChart(ctx context.Context, v providers.Values,
	on platform,
) ([]*unstructured.Unstructured, error) {
	chart := p.adapter.Controller.Chart
	values, err := providers.ExpandAll(chart.Values, "controller.chart.values", v)
	if err != nil {
		return nil, err
	}
	raw, err := yaml.Marshal(values)
	if err != nil {
		return nil, err
	}
	out, err := p.helm.template(ctx, chart.ReleaseName(), p.chart, v.Namespace, on, raw)
	if err != nil {
		return nil, fmt.Errorf("chart %s does not render: %w", chart.Path, err)
	}
	objects, err := ParseObjects(out)
	if err != nil {
		return nil, fmt.Errorf("chart %s renders invalid manifests: %w", chart.Path, err)
	}
	return objects, nil
}

// renderFiles returns the objects in files and folders of manifests.
func (p *Prepared) renderFiles(manifests []string, v providers.Values) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	files := p.adapter.Files(p.source)
	for _, path := range manifests {
		found, err := files.YAMLs(path)
		if err != nil {
			return nil, fmt.Errorf("manifests: %w", err)
		}
		for _, f := range found {
			text, err := providers.Expand(string(f.Raw), v)
			if err != nil {
				return nil, fmt.Errorf("manifests: %s: %w", f.Name, err)
			}
			parsed, err := ParseObjects([]byte(text))
			if err != nil {
				return nil, fmt.Errorf("manifests: %s: %w", f.Name, err)
			}
			objects = append(objects, parsed...)
		}
	}
	return objects, nil
}

// appendTo returns a function that collects the items of a list.
func appendTo(objects *[]*unstructured.Unstructured) func(runtime.Object) error {
	return func(o runtime.Object) error {
		item, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("a list holds a %T", o)
		}
		*objects = append(*objects, item)
		return nil
	}
}
