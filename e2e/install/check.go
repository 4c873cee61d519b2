package install

import "context"

// Found is what is known of a provider before it is installed.
type Found struct {
	Core       string   // release of Karpenter core, empty if it is unknown
	CRDs       []string // names
	Objects    int      // in the chart or the manifests
	Deployment string   // the controller's, namespace/name
}

// Found renders the manifests for a cluster of the selected version, with samples of the values
// that only a cluster knows, and tells what there is.
func (p *Prepared) Found(ctx context.Context) (Found, error) {
	m, err := p.render(ctx, p.values, platformOf(p.kubernetes))
	if err != nil {
		return Found{}, err
	}
	d := m.deployment
	f := Found{Core: p.core, Objects: len(m.objects), Deployment: d.GetNamespace() + "/" + d.GetName()}
	for _, crd := range p.crds {
		f.CRDs = append(f.CRDs, crd.GetName())
	}
	return f, nil
}
