package drift

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// misHashed counts the pool's NodeClaims whose hash or hash version differs from the pool's.
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

// hashed tells whether an object has a hash in this annotation, and its version.
func hashed(annotation string) check.Predicate {
	return func(o *unstructured.Unstructured) bool {
		annotations := o.GetAnnotations()
		return annotations[annotation] != "" && annotations[annotation+"-version"] != ""
	}
}

// hashedOtherwise counts NodeClaims with another hash, or version of it, than their NodeClass.
func hashedOtherwise(annotation string, class fixtures.Object, nodeClaims check.Count) check.Count {
	its := check.The(class)
	of := func(o *history.Object) string {
		annotations := o.Unstructured().GetAnnotations()
		return annotations[annotation] + " " + annotations[annotation+"-version"]
	}
	return check.Count{
		Name:  nodeClaims.Name + " with another hash than their NodeClass",
		Among: nodeClaims.Of,
		Reads: slices.Concat(nodeClaims.Reads, its.Reads),
		Of: func(w *history.World) []*history.Object {
			classes := its.Of(w)
			return slices.DeleteFunc(slices.Clone(nodeClaims.Of(w)), func(nodeClaim *history.Object) bool {
				return slices.ContainsFunc(classes, func(class *history.Object) bool { return of(class) == of(nodeClaim) })
			})
		},
	}
}

// hashOf returns an object's hash and its version; empty without one.
func hashOf(o *unstructured.Unstructured) string {
	annotations := o.GetAnnotations()
	return annotations[karpenter.NodePoolHashAnnotation] + " " + annotations[karpenter.NodePoolHashVersionAnnotation]
}

// anotherVersion is a hash version that no release has used.
const anotherVersion = "v0"

// rehashed is a merge patch with a hash of another version, as from another release.
const rehashed = `{"metadata":{"annotations":{"` + karpenter.NodePoolHashAnnotation + `":"1","` +
	karpenter.NodePoolHashVersionAnnotation + `":"` + anotherVersion + `"}}}`

// hashedBefore tells whether an object has the hash of that patch.
func hashedBefore(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[karpenter.NodePoolHashVersionAnnotation] == anotherVersion
}
