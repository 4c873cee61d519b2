package check

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Predicate says something of an object, for Where, With and Each. Its answer must come
// from the object alone. Accessors such as karpenter.Deleting and karpenter.NodeReady are
// predicates too.
type Predicate func(*unstructured.Unstructured) bool

// Not says the opposite.
func (p Predicate) Not() Predicate {
	return func(o *unstructured.Unstructured) bool { return !p(o) }
}

// True says whether an object has this condition with status True.
func True(condition string) Predicate {
	return func(o *unstructured.Unstructured) bool { return karpenter.IsTrue(o, condition) }
}

// Tainted says whether a node has a taint with this key.
func Tainted(key string) Predicate {
	return func(o *unstructured.Unstructured) bool { return karpenter.HasTaint(o, key) }
}

// TaintedWith says whether a node has a taint of this key, with this effect and without a
// value, and no other of this key.
func TaintedWith(key, effect string) Predicate {
	only := []corev1.Taint{{Key: key, Effect: corev1.TaintEffect(effect)}}
	return func(o *unstructured.Unstructured) bool {
		return slices.Equal(only, slices.DeleteFunc(karpenter.Taints(o), func(t corev1.Taint) bool { return t.Key != key }))
	}
}

// Labeled says whether an object has this label with this value.
func Labeled(key, value string) Predicate {
	return func(o *unstructured.Unstructured) bool { return has(o.GetLabels(), key, value) }
}

// Annotated says whether an object has this annotation with this value.
func Annotated(key, value string) Predicate {
	return func(o *unstructured.Unstructured) bool { return has(o.GetAnnotations(), key, value) }
}

func has(m map[string]string, key, value string) bool {
	v, present := m[key]
	return present && v == value
}

// Holding says whether so much of a resource is there for a node's pods.
func Holding(name corev1.ResourceName, least string) Predicate {
	return func(o *unstructured.Unstructured) bool {
		allocatable := karpenter.Allocatable(o, name)
		return allocatable.Cmp(resource.MustParse(least)) >= 0
	}
}

// DeletedAt says whether an object's deletion was asked for at an age, or later by no more
// than that. The API server's times are whole seconds.
func DeletedAt(age, late time.Duration) Predicate {
	return func(o *unstructured.Unstructured) bool {
		deleted := o.GetDeletionTimestamp()
		if deleted == nil {
			return false
		}
		was := deleted.Sub(o.GetCreationTimestamp().Time)
		return was >= age-time.Second && was <= age+late
	}
}

// OfNodeClass says whether a NodeClaim refers to the NodeClass of this name.
func OfNodeClass(name string) Predicate {
	return func(o *unstructured.Unstructured) bool {
		is, _, _ := unstructured.NestedString(o.Object, "spec", "nodeClassRef", "name")
		return is == name
	}
}

// Requiring says whether a NodeClaim requires a label to have one of just these
// values, in any order.
func Requiring(key string, values ...string) Predicate {
	wanted := sets.New(values...)
	return func(o *unstructured.Unstructured) bool {
		return sets.New(karpenter.NodeClaimRequired(o, key)...).Equal(wanted)
	}
}
