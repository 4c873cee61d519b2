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

// collectorWithin is how long the garbage collector may take to learn of new kinds, for
// which it looks every 30 s (Kubernetes: cmd/kube-controller-manager/app/core.go).
const collectorWithin = 2 * time.Minute

// awaitCollector waits until the cluster's garbage collector knows NodeClaims, which
// shows by one whose owner is gone. A NodePool that is deleted in the foreground before
// is let go at the moment at which the collector learns of both kinds, if by chance it
// looks at the pool before it has seen the pool's NodeClaims.
func awaitCollector(ctx context.Context, client dynamic.Interface) error {
	claims := client.Resource(karpenter.NodeClaims)
	orphan, err := claims.Create(ctx, orphan(), metav1.CreateOptions{})
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

// orphan is a NodeClaim that is nobody's: its owner has never been there, and its
// NodeClass is of no provider, so that Karpenter leaves it alone.
func orphan() *unstructured.Unstructured {
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
