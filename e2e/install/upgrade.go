package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Version returns the releases of the source module and of Karpenter core. Both may be empty.
func (p *Prepared) Version() (source, core string) { return p.values.Version, p.core }

// UpgradeCRDs applies the CRDs of another release, as `kubectl apply` does, and waits until they
// are established. CRDs that only the present release has stay, as they do for users.
func (i *Installed) UpgradeCRDs(ctx context.Context, to *Prepared) error {
	crds := to.crdsFor(i.values)
	if err := i.clients.dropConverters(ctx, crds); err != nil {
		return err
	}
	return i.clients.establish(ctx, crds)
}

// dropConverters removes the conversion webhooks that CRDs of another release don't have any more, as
// `kubectl apply` does. A server-side apply would leave the CA that the controller has put there, and the
// API server refuses a webhook that is in part there.
func (c *clients) dropConverters(ctx context.Context, crds []*unstructured.Unstructured) error {
	for _, crd := range crds {
		if converter(crd) != nil {
			continue
		}
		is, err := c.dynamic.Resource(cluster.CRDs).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && converter(is) == nil {
			continue
		}
		if err == nil {
			_, err = c.dynamic.Resource(cluster.CRDs).Patch(ctx, crd.GetName(), types.MergePatchType,
				[]byte(`{"spec":{"conversion":null}}`), metav1.PatchOptions{})
		}
		if err != nil {
			return fmt.Errorf("removing the conversion of the CRD %s: %w", crd.GetName(), err)
		}
	}
	return nil
}

// Upgrade replaces the controller by that of another release, as `helm upgrade` of Helm 4 does: it
// applies the new manifests server-side, in Helm's order, and deletes what only the old ones had.
// The Deployment's own strategy ends the old pod and starts the new one. Upgrade waits until the
// old pod is gone and the new one is ready. Ready is not leading.
//
// The simulated cloud stays, and so do the adapter's hooks, which are those of the release that was
// installed first. A failed upgrade leaves the Deployment as it is.
func (i *Installed) Upgrade(ctx context.Context, to *Prepared) error {
	image, err := to.controller.load(ctx, i.cluster)
	if err != nil {
		return err
	}
	ports, err := takePorts(i.cluster, to.adapter.Controller.Ports) // the old pod may still have the others
	if err != nil {
		return err
	}
	on, err := i.clients.platform()
	if err != nil {
		return fmt.Errorf("asking the API server what it serves: %w", err)
	}
	values := i.values
	values.Version, values.Ports, values.Image = to.values.Version, ports, providers.ParseImageName(image)
	m, err := to.render(ctx, values, on)
	if err == nil {
		err = i.interposer.redirect(m)
	}
	if err != nil {
		return err
	}
	if name := m.deployment.GetName(); name != i.Deployment || m.selector != i.selector {
		return fmt.Errorf("release %s names the controller's Deployment %s (pods %s), and the installed one is %s (pods "+
			"%s): `helm upgrade` would run both for a while, which is not supported", values.Version, name, m.selector,
			i.Deployment, i.selector)
	}
	before := i.Pods(ctx)
	if err := i.clients.applyAll(ctx, m.objects, values.Namespace); err != nil {
		return err
	}
	if err := i.clients.deleteAll(ctx, missingIn(m.objects, i.objects, values.Namespace), values.Namespace); err != nil {
		return err
	}
	i.CoreVersion, i.Digest = to.core, to.controller.digest
	i.values, i.objects, i.container = values, m.objects, m.container
	return i.awaitSuccessor(ctx, before)
}

// missingIn returns the objects of another list that are none of these. Those that say no namespace
// are in the given one.
func missingIn(these, others []*unstructured.Unstructured, namespace string) []*unstructured.Unstructured {
	in := func(o *unstructured.Unstructured) string { return cmp.Or(o.GetNamespace(), namespace) }
	return slices.DeleteFunc(slices.Clone(others), func(other *unstructured.Unstructured) bool {
		return slices.ContainsFunc(these, func(o *unstructured.Unstructured) bool {
			return o.GroupVersionKind().GroupKind() == other.GroupVersionKind().GroupKind() &&
				in(o) == in(other) && o.GetName() == other.GetName()
		})
	})
}

// deleteAll deletes objects, those that others depend on last.
func (c *clients) deleteAll(ctx context.Context, objects []*unstructured.Unstructured, namespace string) error {
	mapper := c.mapper()
	for _, o := range slices.Backward(objects) {
		resource, in, err := Locate(mapper, o, namespace)
		if err == nil {
			err = c.dynamic.Resource(resource).Namespace(in).Delete(ctx, o.GetName(), metav1.DeleteOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}
