package install

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// converter returns where a CRD says how its conversion webhook is called, or nil if it has none.
func converter(crd *unstructured.Unstructured) map[string]any {
	config, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "conversion", "webhook", "clientConfig")
	client, _ := config.(map[string]any)
	return client
}

// converts reports whether the adapter says that the provider converts its objects.
func (p *Prepared) converts() bool {
	ok, _ := p.adapter.Supports(providers.Conversion)
	return ok
}

// crdsFor returns the CRDs for a cluster. Their conversion webhooks are where the provider is
// there: in its namespace, and at the port that was taken in place of the one that they name.
func (p *Prepared) crdsFor(v providers.Values) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, len(p.crds))
	for i, crd := range p.crds {
		all[i] = crd.DeepCopy()
		service, _ := converter(all[i])["service"].(map[string]any)
		if service == nil {
			continue
		}
		service["namespace"] = v.Namespace
		for name, port := range p.adapter.Controller.Ports {
			if service["port"] == int64(port) {
				service["port"] = int64(v.Ports[name])
				break
			}
		}
	}
	return all
}

// convertsWithin bounds the time in which a controller that is ready gives its CRDs the CA of its
// conversion webhook.
const convertsWithin = 30 * time.Second

// awaitConverters waits until each CRD with a conversion webhook has the CA of the webhook. Until
// then the API server doesn't trust the webhook. The controller makes the CA after its start.
func (i *Installed) awaitConverters(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, convertsWithin)
	defer cancel()
	var waiting string
	err := wait.PollUntilContextCancel(limited, askEvery, true, func(ctx context.Context) (bool, error) {
		list, err := i.clients.dynamic.Resource(cluster.CRDs).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		waiting = ""
		for n := range list.Items {
			client := converter(&list.Items[n])
			if ca, _ := client["caBundle"].(string); client != nil && ca == "" {
				waiting = list.Items[n].GetName()
			}
		}
		return waiting == "", nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case waiting != "":
		return fmt.Errorf("the controller has not put the CA of its conversion webhook into the CRD %s within %s",
			waiting, convertsWithin)
	}
	return err
}
