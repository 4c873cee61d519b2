package draft

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/install"
)

//go:embed adapter.yaml.tmpl
var layout string

// Options is what the chart doesn't tell.
type Options struct {
	Name    string // of the adapter; empty: made from the chart's
	Path    string // of the chart, as the adapter's file names it: a folder, an archive or an address
	Version string // of a chart that has an address; empty: the newest
	Image   string // empty: the chart's
	CRDs    string // path of the CRDs, as the adapter's file names it; empty: the chart's
	// Definitions are the objects in CRDs.
	Definitions []*unstructured.Unstructured
}

// page is what the layout shows.
type page struct {
	Options
	Chart      *Chart
	Values     string
	Required   []string
	Ports      map[string]int64
	Movable    map[string]bool // ports that a value of the chart changes
	Gates      map[string]string
	Env        []string
	Account    string
	Deployment string   // if there are several
	Asks       []string // of nodes and the cluster
	NodeClass  string
	Notes      []string
	kind       string // of the NodeClass
}

// nameOf makes a name for the adapter: what a chart is called beside karpenter, or else what its NodeClass is.
func nameOf(chart, kind string) string {
	name := strings.Trim(strings.NewReplacer("karpenter", "", "provider", "").Replace(chart), "-")
	if name == "" {
		name = strings.ToLower(strings.TrimSuffix(kind, "NodeClass"))
	}
	return strings.ReplaceAll(cmp.Or(name, "provider"), "--", "-")
}

// Write returns the text of an adapter for the provider of a chart. The error says what can't be read.
func Write(ctx context.Context, c *Chart, o Options) ([]byte, error) {
	f, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	r := f.rendered
	p := page{
		Options: o, Chart: c, Ports: f.ports, Movable: f.movable, Account: r.controller.ServiceAccountName,
	}
	for _, path := range slices.Sorted(maps.Keys(f.required)) {
		if _, known := f.values[path]; !known {
			p.Required = append(p.Required, path)
		}
	}
	if p.Image == "" {
		p.Image, _, _ = strings.Cut(r.container.Image, "@")
	}
	if len(r.deployments) > 1 {
		p.Deployment = r.deployments[0]
	}
	if p.Values, err = valuesOf(f); err != nil {
		return nil, err
	}
	p.Gates = gatesOf(r)
	p.Env = emptyEnv(f)
	p.Asks = asksFor(r)
	if err := p.addNodeClass(ctx, c); err != nil {
		return nil, err
	}
	if p.Name == "" {
		p.Name = nameOf(c.Name, p.kind)
	}
	var out bytes.Buffer
	functions := template.FuncMap{"indent": indent, "braces": func(s string) string { return "{{" + s + "}}" }}
	if err := template.Must(template.New("").Funcs(functions).Parse(layout)).Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// addNodeClass makes a NodeClass from the CRDs.
func (p *page) addNodeClass(ctx context.Context, c *Chart) error {
	crds := p.Definitions
	if p.CRDs == "" {
		raw, err := c.crds(ctx)
		if err != nil {
			return err
		}
		if crds, err = install.ParseObjects(raw); err != nil {
			return fmt.Errorf("the CRDs: %w", err)
		}
	}
	if len(crds) == 0 {
		return errors.New("the chart has no CRDs; say where they are, as in CRDS=pkg/apis/crds")
	}
	class, err := nodeClassOf(crds)
	if err != nil || class == nil {
		return err
	}
	p.kind = class.kind
	text, err := yaml.Marshal(class.object)
	p.NodeClass, p.Notes = string(text), class.notes
	return err
}

// valuesOf returns the chart's values for the adapter, as YAML.
func valuesOf(f *findings) (string, error) {
	values := maps.Clone(f.required)
	maps.Copy(values, f.values)
	if len(values) == 0 {
		return "", nil
	}
	text, err := yaml.Marshal(nested(values))
	return string(text), err
}

// gatesOf returns the feature gates in the controller's environment.
func gatesOf(r *rendered) map[string]string {
	gates := map[string]string{}
	for gate := range strings.SplitSeq(r.env()["FEATURE_GATES"], ",") {
		if name, on, ok := strings.Cut(strings.TrimSpace(gate), "="); ok {
			gates[name] = on
		}
	}
	return gates
}

// emptyEnv returns the variables to which the chart gives no value, nor the adapter's values for it. Most are
// needed.
func emptyEnv(f *findings) []string {
	var names []string
	for name, value := range f.rendered.env() {
		if value == "" && !f.filled[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// asksFor says in words what the chart's Deployment needs of nodes and of the cluster.
func asksFor(r *rendered) []string {
	var all []string
	if a := r.controller.Affinity; a != nil && a.NodeAffinity != nil &&
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				if e.Operator == "Exists" || e.Operator == "In" {
					all = append(all, fmt.Sprintf("%s %s %s", e.Key, e.Operator, strings.Join(e.Values, ", ")))
				}
			}
		}
	}
	all = append(all, variablesFrom(&r.container)...)
	for _, v := range r.controller.Volumes {
		switch {
		case v.Secret != nil:
			all = append(all, "the Secret "+v.Secret.SecretName)
		case v.ConfigMap != nil:
			all = append(all, "the ConfigMap "+v.ConfigMap.Name)
		case v.HostPath != nil:
			all = append(all, "the host's "+v.HostPath.Path)
		}
	}
	return all
}

// variablesFrom names the objects that a container's variables come from.
func variablesFrom(c *corev1.Container) []string {
	var all []string
	for _, e := range c.Env {
		from := cmp.Or(e.ValueFrom, &corev1.EnvVarSource{})
		switch {
		case from.SecretKeyRef != nil:
			all = append(all, fmt.Sprintf("the Secret %s, key %s", from.SecretKeyRef.Name, from.SecretKeyRef.Key))
		case from.ConfigMapKeyRef != nil:
			all = append(all, fmt.Sprintf("the ConfigMap %s, key %s", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key))
		}
	}
	for _, e := range c.EnvFrom {
		switch {
		case e.SecretRef != nil:
			all = append(all, "the Secret "+e.SecretRef.Name)
		case e.ConfigMapRef != nil:
			all = append(all, "the ConfigMap "+e.ConfigMapRef.Name)
		}
	}
	return all
}

// indent indents every line.
func indent(by int, text string) string {
	space := strings.Repeat(" ", by)
	return space + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+space)
}
