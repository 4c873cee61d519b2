package check

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// MisHashed counts the pool's NodeClaims whose hash or hash version differs from the pool's.
func MisHashed(pool Named, nodeClaims Count) Count {
	return Count{
		Name:  nodeClaims.Name + " with another hash than their pool",
		Among: nodeClaims.Of,
		Reads: append(slices.Clone(nodeClaims.Reads), karpenter.NodePools),
		Of: func(w *history.World) []*history.Object {
			o := w.Get(karpenter.NodePools, "", pool.GetName())
			return slices.DeleteFunc(slices.Clone(nodeClaims.Of(w)), func(nodeClaim *history.Object) bool {
				return o == nil || hashOf(nodeClaim.Unstructured()) == hashOf(o.Unstructured())
			})
		},
	}
}

// hashOf returns an object's hash and its version; empty without one.
func hashOf(o *unstructured.Unstructured) string {
	annotations := o.GetAnnotations()
	return annotations[karpenter.NodePoolHashAnnotation] + " " + annotations[karpenter.NodePoolHashVersionAnnotation]
}
