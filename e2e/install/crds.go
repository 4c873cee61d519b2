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

// readCRDs reads the CRDs. It fails if one is missing that every spec needs. Of two with the
// same name, the later one counts.
func (p *Prepared) readCRDs(context.Context, *build.Cache, Selection) error {
	files := p.adapter.Files(p.source)
	for _, path := range p.adapter.CRDs {
		found, err := files.YAMLs(path)
		if err != nil {
			return fmt.Errorf("crds: %w", err)
		}
		for _, f := range found {
			objects, err := parseObjects(f.Raw)
			if err != nil {
				return fmt.Errorf("crds: %s: %w", f.Name, err)
			}
			for _, o := range objects {
				if o.GetKind() == "CustomResourceDefinition" {
					p.addCRD(o)
				}
			}
		}
	}
	class := p.adapter.NodeClassGVR()
	needed := []string{karpenter.NodeClaims.GroupResource().String(), class.GroupResource().String()}
	if p.adapter.Capabilities[providers.NodePools].State != providers.Unsupported {
		needed = append(needed, karpenter.NodePools.GroupResource().String())
	}
	names := make([]string, len(p.crds))
	for i, crd := range p.crds {
		names[i] = crd.GetName()
	}
	for _, name := range needed {
		if !slices.Contains(names, name) {
			return fmt.Errorf("crds: there is no CRD %s in %s, only %s; add its folder to crds",
				name, strings.Join(p.adapter.CRDs, ", "), strings.Join(names, ", "))
		}
	}
	return nil
}

func (p *Prepared) addCRD(crd *unstructured.Unstructured) {
	unstructured.RemoveNestedField(crd.Object, "status")
	cluster.Own(crd)
	p.crds = slices.DeleteFunc(p.crds, func(o *unstructured.Unstructured) bool { return o.GetName() == crd.GetName() })
	p.crds = append(p.crds, crd)
}

// parseObjects returns the objects in a stream of YAML documents, with lists split into items.
func parseObjects(raw []byte) ([]*unstructured.Unstructured, error) {
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
