package session

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// collectorWithin limits how long the garbage collector may take to learn of new kinds. It
// looks for them every 30 s (Kubernetes: cmd/kube-controller-manager/app/core.go).
const collectorWithin = 2 * time.Minute

// awaitCollector waits until the garbage collector knows NodeClaims: it deletes one whose
// owner is gone. While it learns of new kinds, it may look at a NodePool before it has seen
// the pool's NodeClaims. It then releases a pool that is deleted in the foreground too early.
func awaitCollector(ctx context.Context, client dynamic.Interface) error {
	claims := client.Resource(karpenter.NodeClaims)
	orphan, err := claims.Create(ctx, orphanedNodeClaim(), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a NodeClaim for the garbage collector: %w", err)
	}
	err = wait.PollUntilContextTimeout(ctx, time.Second, collectorWithin, true, func(ctx context.Context) (bool, error) {
		_, err := claims.Get(ctx, orphan.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("the cluster's garbage collector left NodeClaim %s, whose owner is gone: %w", orphan.GetName(), err)
	}
	return nil
}

// orphanedNodeClaim returns a NodeClaim whose owner never existed. Its NodeClass is of no
// provider, so Karpenter leaves it alone.
func orphanedNodeClaim() *unstructured.Unstructured {
	nobody := "nobody"
	o := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{
			"nodeClassRef": map[string]any{"group": "plumbline.invalid", "kind": "NodeClass", "name": nobody},
			"requirements": []any{},
		},
	}}
	o.SetAPIVersion(karpenter.NodeClaims.GroupVersion().String())
	o.SetKind("NodeClaim")
	o.SetName("orphan" + rand.String(5))
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: o.GetAPIVersion(), Kind: "NodePool", Name: nobody, UID: uuid.NewUUID(),
	}})
	cluster.Own(o)
	return o
}
