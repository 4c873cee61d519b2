package drift

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

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
