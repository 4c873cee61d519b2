package install

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// readCRDs reads the CRDs, also those of the management cluster. It fails if one is missing
// that every spec needs.
func (p *Prepared) readCRDs(ctx context.Context, cache *build.Cache, s Selection) (err error) {
	if p.crds, err = p.readAll(ctx, cache, s, "crds", p.adapter.CRDs); err != nil {
		return err
	}
	if m := p.adapter.Management; m != nil {
		if p.managementCRDs, err = p.readAll(ctx, cache, s, "management.crds", m.CRDs); err != nil {
			return err
		}
	}
	return p.checkCRDs()
}

// readAll reads CRDs from all places of a list. Of two with the same name, the later one
// counts. At is the list's path in the adapter.
func (p *Prepared) readAll(ctx context.Context, cache *build.Cache, s Selection, at string,
	list []providers.CRDs,
) (all []*unstructured.Unstructured, _ error) {
	for i, crds := range list {
		var objects []*unstructured.Unstructured
		wanted, err := crds.For(p.core)
		switch {
		case err != nil || !wanted:
		case crds.Path == providers.OwnChart:
			objects, err = p.crdsOfChart(ctx, s)
		case crds.Chart != "":
			objects, err = p.crdsOfAnotherChart(ctx, cache, s, crds)
		default:
			objects, err = p.crdsInFiles(crds)
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", at, i, err)
		}
		for _, o := range objects {
			if isCRD(o) {
				all = withCRD(all, o)
			}
		}
	}
	return all, nil
}

func isCRD(o *unstructured.Unstructured) bool { return o.GetKind() == "CustomResourceDefinition" }

// checkCRDs checks that the CRDs are the provider's.
func (p *Prepared) checkCRDs() error {
	names, kinds := make([]string, len(p.crds)), map[string]string{}
	for i, crd := range p.crds {
		names[i] = crd.GetName()
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		kinds[kind+"."+group] = crd.GetName()
	}
	there := strings.Join(names, ", ")
	of := make([]string, len(p.adapter.CRDs))
	for i, crds := range p.adapter.CRDs {
		of[i] = crds.String()
	}
	gvk := p.adapter.NodeClassObject("").GroupVersionKind()
	class, defined := p.adapter.NodeClassGVR().GroupResource().String(), kinds[gvk.Kind+"."+gvk.Group]
	switch {
	case len(names) == 0:
		return fmt.Errorf("crds: there is no CRD in %s", strings.Join(of, ", "))
	case defined == "":
		return fmt.Errorf("crds: no CRD is that of nodeClass, which is kind %s of %s; there are %s in %s: are these the "+
			"CRDs of another provider, or are nodeClass.apiVersion and kind wrong?", gvk.Kind, gvk.Group, there,
			strings.Join(of, ", "))
	case defined != class:
		return fmt.Errorf("crds: the CRD of the NodeClass is named %s; only %s is supported, the plural by Kubernetes' rule "+
			"for English", defined, class)
	}
	needed := []string{karpenter.NodeClaims.GroupResource().String()}
	if p.adapter.Capabilities[providers.NodePools].State != providers.Unsupported {
		needed = append(needed, karpenter.NodePools.GroupResource().String())
	}
	for _, name := range needed {
		if !slices.Contains(names, name) {
			return fmt.Errorf("crds: there is no CRD %s in %s, only %s; add the files or the chart with Karpenter's own CRDs, "+
				"as the provider ships them", name, strings.Join(of, ", "), there)
		}
	}
	return nil
}

// crdsInFiles returns the objects in a file or folder.
func (p *Prepared) crdsInFiles(crds providers.CRDs) ([]*unstructured.Unstructured, error) {
	found, err := p.adapter.Files(p.source).YAMLs(crds.Path)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, f := range found {
		parsed, err := ParseObjects(f.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		objects = append(objects, parsed...)
	}
	return objects, nil
}

// crdsOfChart returns the CRDs of the controller's chart, as the adapter's values render it.
func (p *Prepared) crdsOfChart(ctx context.Context, s Selection) ([]*unstructured.Unstructured, error) {
	rendered, err := p.renderChart(ctx, p.values, platformOf(s.Kubernetes))
	if err != nil {
		return nil, err
	}
	return p.crdsIn(ctx, p.chart, p.adapter.Controller.Chart.Path, rendered)
}

// crdsOfAnotherChart returns the CRDs of a chart, as its own values render it.
func (p *Prepared) crdsOfAnotherChart(ctx context.Context, cache *build.Cache, s Selection,
	crds providers.CRDs,
) ([]*unstructured.Unstructured, error) {
	chart, err := p.locateChart(ctx, cache, crds.Chart, crds.Version)
	if err != nil {
		return nil, err
	}
	out, err := p.helm.template(ctx, "crds", chart, p.values.Namespace, platformOf(s.Kubernetes), nil)
	if err != nil {
		return nil, fmt.Errorf("chart %s does not render: %w", crds, err)
	}
	rendered, err := ParseObjects(out)
	if err != nil {
		return nil, fmt.Errorf("chart %s renders invalid manifests: %w", crds, err)
	}
	return p.crdsIn(ctx, chart, crds.String(), rendered)
}

// crdsIn returns the CRDs in a chart's folder crds, and those among its rendered objects.
func (p *Prepared) crdsIn(ctx context.Context, chart, name string,
	rendered []*unstructured.Unstructured,
) ([]*unstructured.Unstructured, error) {
	out, err := p.helm.crds(ctx, chart)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", name, err)
	}
	found, err := ParseObjects(out)
	if err != nil {
		return nil, fmt.Errorf("the CRDs of chart %s: %w", name, err)
	}
	found = append(found, rendered...)
	if !slices.ContainsFunc(found, isCRD) {
		return nil, fmt.Errorf("the chart %s has no CRDs, neither in its folder crds nor among its templates; many projects "+
			"publish them as a chart of their own: write {chart: ..., version: ...}, or the path of their files", name)
	}
	return found, nil
}

func withCRD(all []*unstructured.Unstructured, crd *unstructured.Unstructured) []*unstructured.Unstructured {
	unstructured.RemoveNestedField(crd.Object, "status")
	cluster.Own(crd)
	all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return o.GetName() == crd.GetName() })
	return append(all, crd)
}

// ParseObjects returns the objects in a stream of YAML documents, with lists split into items.
func ParseObjects(raw []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		var content map[string]any
		if err := utilyaml.Unmarshal(document, &content); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if len(content) == 0 {
			continue
		}
		o := &unstructured.Unstructured{Object: content}
		if o.IsList() {
			if err := o.EachListItem(appendTo(&objects)); err != nil {
				return nil, fmt.Errorf("document %d: %w", n, err)
			}
			continue
		}
		if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
			return nil, fmt.Errorf("document %d is no API object: apiVersion, kind and metadata.name are needed", n)
		}
		objects = append(objects, o)
	}
}
