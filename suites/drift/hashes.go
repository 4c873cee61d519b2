package drift

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// misHashed counts those of the pool's NodeClaims that carry another hash than
// their pool, or another version of it.
func misHashed(pool *fixtures.Pool, nodeClaims check.Count) check.Count {
	return check.Count{
		Name:  nodeClaims.Name + " with another hash than their pool",
		Among: nodeClaims.Of,
		Reads: append(slices.Clone(nodeClaims.Reads), karpenter.NodePools),
		Of: func(w *history.World) []*history.Object {
			o := w.Get(karpenter.NodePools, "", pool.GetName())
			return slices.DeleteFunc(nodeClaims.Of(w), func(nodeClaim *history.Object) bool {
				return o == nil || hashOf(nodeClaim.Unstructured()) == hashOf(o.Unstructured())
			})
		},
	}
}

// hashOf is an object's hash and the version of it; empty if it has none.
func hashOf(o *unstructured.Unstructured) string {
	annotations := o.GetAnnotations()
	return annotations[karpenter.NodePoolHashAnnotation] + " " + annotations[karpenter.NodePoolHashVersionAnnotation]
}

// anotherVersion is a version of the hash that no release has ever used.
const anotherVersion = "v0"

// rehashed is the merge patch by which an object looks as if another release had
// hashed it, in its own way.
const rehashed = `{"metadata":{"annotations":{"` + karpenter.NodePoolHashAnnotation + `":"1","` +
	karpenter.NodePoolHashVersionAnnotation + `":"` + anotherVersion + `"}}}`

// hashedBefore says whether an object carries that hash.
func hashedBefore(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[karpenter.NodePoolHashVersionAnnotation] == anotherVersion
}
