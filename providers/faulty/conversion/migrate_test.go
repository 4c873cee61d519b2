package main

import (
	"testing"

	"github.com/awslabs/operatorpkg/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	migrationcrd "sigs.k8s.io/karpenter/pkg/controllers/migration/crd"
	migration "sigs.k8s.io/karpenter/pkg/controllers/migration/resource"
	"sigs.k8s.io/karpenter/pkg/controllers/nodepool/hash"
)

// crdOf returns a CRD of both versions. Pools of v1beta1 have no resources.
func crdOf() *unstructured.Unstructured {
	resources := map[string]any{"maxProperties": int64(0)}
	pool := map[string]any{"properties": map[string]any{"resources": resources}}
	spec := map[string]any{"properties": map[string]any{"spec": pool}}
	root := map[string]any{"properties": map[string]any{"template": spec}}
	return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": []any{
		map[string]any{"name": "v1beta1", "served": true, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"properties": map[string]any{"spec": root}},
		}},
		map[string]any{"name": "v1", "served": true},
	}}}}
}

func TestCRDsServeVersionOneAlone(t *testing.T) {
	crd := crdOf()
	servesVersionOneAlone(crd)
	eachVersion(crd, func(v map[string]any) {
		if want := v["name"] == "v1"; v["served"] != want {
			t.Errorf("that %s is served is %v, want %v", v["name"], v["served"], want)
		}
	})
}

func TestCRDsAcceptRequestsOfPools(t *testing.T) {
	crd := crdOf()
	acceptsRequestsOfPools(crd)
	eachVersion(crd, func(v map[string]any) {
		if most, found, _ := unstructured.NestedFieldNoCopy(v, "schema", "openAPIV3Schema", "properties", "spec",
			"properties", "template", "properties", "spec", "properties", "resources", "maxProperties"); found {
			t.Errorf("%s accepts %v resources of a pool, want any", v["name"], most)
		}
	})
}

func TestOnlyMigrationIsDropped(t *testing.T) {
	for _, c := range []struct {
		of                controller.Controller
		migrates, writing bool
	}{
		{migrationcrd.NewController(nil, nil), true, false},
		{migration.NewController[*v1.NodePool](nil), true, true},
		{migration.NewController[*v1.NodeClaim](nil), true, true},
		{hash.NewController(nil), false, false},
	} {
		if migrates(c.of) != c.migrates || writesStored(c.of) != c.writing {
			t.Errorf("%T migrates: %t, and writes what is stored: %t; want %t, %t", c.of, migrates(c.of),
				writesStored(c.of), c.migrates, c.writing)
		}
	}
}

func TestOwnersAreNotHeldBack(t *testing.T) {
	block := true
	made := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "claim", OwnerReferences: []metav1.OwnerReference{{Name: "pool", BlockOwnerDeletion: &block}},
	}}
	lying := deceived{fake.NewClientBuilder().Build(), lie{create: letsPoolsGoFirst}}
	if err := lying.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	var kept v1.NodeClaim
	if err := lying.Get(t.Context(), client.ObjectKeyFromObject(made), &kept); err != nil {
		t.Fatal(err)
	}
	if owners := kept.OwnerReferences; len(owners) != 1 || owners[0].BlockOwnerDeletion != nil {
		t.Errorf("the owners are %v, want one that isn't held back", owners)
	}
}

func TestTheRestEndsWhenOneIsGone(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(claimOf("a", "one"), claimOf("a", "two"), claimOf("b", "three")).Build()
	look := endsTheRest()
	left := func(what string, want int) {
		t.Helper()
		if err := look(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var all v1.NodeClaimList
		if err := c.List(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		if len(all.Items) != want {
			t.Errorf("%s, %d NodeClaims are left, want %d", what, len(all.Items), want)
		}
	}
	left("before anything ends", 3)
	one := claimOf("a", "one")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil {
		t.Fatal(err)
	}
	one.Finalizers = []string{"example.com/drain"}
	if err := c.Update(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	left("while one ends", 3)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(one), one); err != nil {
		t.Fatal(err)
	}
	one.Finalizers = nil
	if err := c.Update(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	left("when one of two is gone", 1)
}

// claimOf returns a NodeClaim of a pool.
func claimOf(pool, name string) *v1.NodeClaim {
	return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Labels: map[string]string{v1.NodePoolLabelKey: pool},
	}}
}
