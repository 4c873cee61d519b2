package env

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// undroppable is in the API server's message about a version in which objects may be stored.
const undroppable = "must remain in spec.versions"

// storedEvery is how often a CRD is asked which versions are stored.
const storedEvery = 500 * time.Millisecond

// storedKinds returns the kinds that are served in two versions.
func (e *Env) storedKinds() []schema.GroupVersionResource {
	kinds := []schema.GroupVersionResource{karpenter.NodePools, karpenter.NodeClaims}
	if ok, _ := e.place.Adapter.Supports(providers.NodeClassConversion); ok {
		kinds = append(kinds, e.place.Adapter.NodeClassGVR())
	}
	return kinds
}

// StoreAs changes the CRDs of NodePools and NodeClaims, and of NodeClasses that are converted too, so that
// what is written from now on is stored in this version, such as "v1beta1": as CRDs of another release do.
// Objects that are stored already stay as they are. The recording has a gap there: a spec can judge only
// what comes later, from a mark that it takes then. The clean-up stores objects as before.
func (e *Env) StoreAs(ctx context.Context, version string) {
	e.storedOtherwise = true
	err := e.storeAs(ctx, version)
	if err == nil { // later marks come after this event, and so after the gaps
		err = e.announce(ctx, invariant.ReasonInterrupted, "the spec stores objects as "+version)
	}
	if err != nil {
		e.fail(ctx, "storing objects as %s: %w", version, err)
	}
}

// storeAs changes the CRDs that store another version. The API server ends the watches of what they
// define, and knows no older events.
func (e *Env) storeAs(ctx context.Context, version string) error {
	var kinds []schema.GroupVersionResource
	var changed []*unstructured.Unstructured
	for _, kind := range e.storedKinds() {
		crd, err := e.crd(ctx, kind)
		if err != nil {
			return err
		}
		if store(crd, version) {
			kinds, changed = append(kinds, kind), append(changed, crd)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	over := e.recorder.Interrupt("objects are stored as "+version, kinds...)
	for _, crd := range changed {
		_, err := e.place.Client.Resource(cluster.CRDs).Update(ctx, crd, metav1.UpdateOptions{FieldManager: fieldManager})
		if err != nil {
			return err
		}
	}
	return over(ctx)
}

// store makes a CRD store a version, and reports whether it stored another one.
func store(crd *unstructured.Unstructured, version string) (changed bool) {
	for _, v := range versionsOf(crd) {
		is := v["name"] == version
		changed = changed || v["storage"] != is
		v["storage"] = is
	}
	return changed
}

func (e *Env) crd(ctx context.Context, kind schema.GroupVersionResource) (*unstructured.Unstructured, error) {
	return e.place.Client.Resource(cluster.CRDs).Get(ctx, kind.GroupResource().String(), metav1.GetOptions{})
}

// versionsOf returns the versions of a CRD, to be changed in place.
func versionsOf(crd *unstructured.Unstructured) (all []map[string]any) {
	list, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	versions, _ := list.([]any)
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// AwaitStored waits until the CRDs that StoreAs changes say that objects are stored in these
// versions, and in no others.
func (e *Env) AwaitStored(ctx context.Context, versions ...string) {
	var last string
	err := wait.PollUntilContextCancel(ctx, storedEvery, true, func(ctx context.Context) (bool, error) {
		for _, kind := range e.storedKinds() {
			crd, err := e.crd(ctx, kind)
			if err != nil {
				return false, err
			}
			stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
			slices.Sort(stored)
			if !slices.Equal(stored, versions) {
				last = fmt.Sprintf("%s are stored as %s", kind.Resource, strings.Join(stored, ", "))
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		e.fail(ctx, "waited for the CRDs to say that objects are stored as %s; %s: %w", strings.Join(versions, ", "), last,
			err)
	}
	e.claim("objects are stored as " + strings.Join(versions, ", "))
}

// ExpectUndroppable expects that the API server refuses the CRDs that StoreAs changes without this
// version, as a later release has them, and says that objects may be stored in it.
func (e *Env) ExpectUndroppable(ctx context.Context, version string) {
	for _, kind := range e.storedKinds() {
		crd, err := e.crd(ctx, kind)
		if err != nil {
			e.fail(ctx, "reading the CRD of %s: %w", kind.Resource, err)
		}
		var others []any
		for _, v := range versionsOf(crd) {
			if v["name"] != version {
				v["storage"] = true
				others = append(others, v)
			}
		}
		unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
		err = unstructured.SetNestedSlice(crd.Object, others, "spec", "versions")
		if err == nil {
			_, err = e.place.Client.Resource(cluster.CRDs).Update(ctx, crd,
				metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		}
		switch {
		case err == nil:
			e.Fail("a CRD of %s without %s is accepted, although objects are stored in it", kind.Resource, version)
		case !apierrors.IsInvalid(err):
			e.fail(ctx, "changing the CRD of %s in a dry run: %w", kind.Resource, err)
		case !strings.Contains(err.Error(), undroppable):
			e.Fail("a CRD of %s without %s is refused, but not for %q: %v", kind.Resource, version, undroppable, err)
		}
		e.claim(fmt.Sprintf("the API server refuses a CRD of %s without %s", kind.Resource, version))
	}
}

// restoreStorage stores objects as before the spec, and says that none is stored in another version:
// the spec's own are gone.
func (e *Env) restoreStorage(ctx context.Context) error {
	if !e.storedOtherwise {
		return nil
	}
	version := karpenter.NodePools.Version
	if err := e.storeAs(ctx, version); err != nil {
		return fmt.Errorf("storing objects as %s again: %w", version, err)
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"storedVersions": []string{version}}})
	if err != nil {
		return err
	}
	for _, kind := range e.storedKinds() {
		_, err := e.place.Client.Resource(cluster.CRDs).Patch(ctx, kind.GroupResource().String(), types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: fieldManager}, "status")
		if err != nil {
			return fmt.Errorf("saying that %s are stored as %s: %w", kind.Resource, version, err)
		}
	}
	e.storedOtherwise = false
	return nil
}
