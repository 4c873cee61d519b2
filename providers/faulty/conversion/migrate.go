package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/awslabs/operatorpkg/controller"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	migrationcrd "sigs.k8s.io/karpenter/pkg/controllers/migration/crd"
	migration "sigs.k8s.io/karpenter/pkg/controllers/migration/resource"
)

const oldVersion = "v1beta1"

// servesVersionOneAlone doesn't serve v1beta1 any more.
func servesVersionOneAlone(crd *unstructured.Unstructured) {
	eachVersion(crd, func(v map[string]any) {
		if v["name"] == oldVersion {
			v["served"] = false
		}
	})
}

// acceptsRequestsOfPools drops the rule that v1beta1 pools have no resource requests.
func acceptsRequestsOfPools(crd *unstructured.Unstructured) {
	eachVersion(crd, func(v map[string]any) {
		unstructured.RemoveNestedField(v, "schema", "openAPIV3Schema", "properties", "spec", "properties", "template",
			"properties", "spec", "properties", "resources", "maxProperties")
	})
}

// eachVersion changes the versions of a CRD.
func eachVersion(crd *unstructured.Unstructured, change func(map[string]any)) {
	spec, _ := crd.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if v, ok := v.(map[string]any); ok {
			change(v)
		}
	}
}

// writesStored reports whether a controller writes what is stored as v1beta1.
func writesStored(c controller.Controller) bool {
	switch c.(type) {
	case *migration.Controller[*v1.NodeClaim], *migration.Controller[*v1.NodePool]:
		return true
	}
	return false
}

// migrates reports whether a controller is of the migration from v1beta1.
func migrates(c controller.Controller) bool {
	_, is := c.(*migrationcrd.Controller)
	return is || writesStored(c)
}

// findsNothingStored lists nothing for the controller that looks whether all is migrated. No other one lists
// objects without their type.
func findsNothingStored(all client.ObjectList) {
	if list, is := all.(*unstructured.UnstructuredList); is {
		list.Items = nil
	}
}

// completesNoKind leaves the kind of a NodeClass out, unless v1beta1 had it.
func completesNoKind(p *v1.NodePool) {
	if !strings.Contains(p.Annotations[v1.NodeClassReferenceAnnotationKey], `"kind"`) {
		p.Spec.Template.Spec.NodeClassRef.Kind = ""
	}
}

// letsPoolsGoFirst makes NodeClaims that don't hold back the end of their pool.
func letsPoolsGoFirst(o client.Object) {
	owners := o.GetOwnerReferences()
	for i := range owners {
		owners[i].BlockOwnerDeletion = nil
	}
	o.SetOwnerReferences(owners)
}

// endsDriftedAtOnce deletes NodeClaims as soon as they have drifted, before there are replacements.
func endsDriftedAtOnce() func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		all := &v1.NodeClaimList{}
		if err := c.List(ctx, all); err != nil {
			return err
		}
		return deleteAll(ctx, c, slices.DeleteFunc(all.Items, func(n v1.NodeClaim) bool {
			return !n.StatusConditions().Get(v1.ConditionTypeDrifted).IsTrue()
		}))
	}
}

// endsTheRest deletes all NodeClaims of a pool when one of them has gone.
func endsTheRest() func(context.Context, client.Client) error {
	ending := map[types.UID]string{} // the pools of NodeClaims that are being deleted
	return func(ctx context.Context, c client.Client) error {
		all := &v1.NodeClaimList{}
		if err := c.List(ctx, all); err != nil {
			return err
		}
		gone := map[string]bool{}
		for uid, pool := range ending {
			if !slices.ContainsFunc(all.Items, func(n v1.NodeClaim) bool { return n.UID == uid }) {
				gone[pool] = true
			}
		}
		for _, n := range all.Items {
			if !n.DeletionTimestamp.IsZero() {
				ending[n.UID] = n.Labels[v1.NodePoolLabelKey]
			}
		}
		return deleteAll(ctx, c, slices.DeleteFunc(all.Items, func(n v1.NodeClaim) bool {
			return !gone[n.Labels[v1.NodePoolLabelKey]]
		}))
	}
}

// deleteAll deletes those NodeClaims that aren't being deleted yet.
func deleteAll(ctx context.Context, c client.Client, all []v1.NodeClaim) error {
	var errs []error
	for i := range all {
		if all[i].DeletionTimestamp.IsZero() {
			errs = append(errs, client.IgnoreNotFound(c.Delete(ctx, &all[i])))
		}
	}
	return errors.Join(errs...)
}

// storesVersionOneAgain restores CRDs that store v1beta1, and says that nothing is stored as it.
func storesVersionOneAgain() func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		all := &apiextensionsv1.CustomResourceDefinitionList{}
		if err := c.List(ctx, all); err != nil {
			return err
		}
		for i := range all.Items {
			if err := storeVersionOne(ctx, c, &all.Items[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

func storeVersionOne(ctx context.Context, c client.Client, crd *apiextensionsv1.CustomResourceDefinition) error {
	if !slices.Contains(crd.Status.StoredVersions, oldVersion) {
		return nil
	}
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name != oldVersion
	}
	if err := c.Update(ctx, crd); err != nil {
		return err
	}
	stored := crd.DeepCopy()
	crd.Status.StoredVersions = []string{"v1"}
	return c.Status().Patch(ctx, crd, client.MergeFrom(stored))
}
