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

// Predicate is a test of an object, for Where, With and Each. It must depend on the object
// alone. Accessors such as karpenter.Deleting and karpenter.NodeReady are predicates too.
type Predicate func(*unstructured.Unstructured) bool

// Not returns the opposite predicate.
func (p Predicate) Not() Predicate {
	return func(o *unstructured.Unstructured) bool { return !p(o) }
}

// True matches objects that have this condition with status True.
func True(condition string) Predicate {
	return func(o *unstructured.Unstructured) bool { return karpenter.IsTrue(o, condition) }
}

// Because matches objects whose condition of this type gives this reason, whatever its status.
func Because(condition, reason string) Predicate {
	return func(o *unstructured.Unstructured) bool {
		said, _ := karpenter.Condition(o, condition)
		return said.Reason == reason
	}
}

// Tainted matches nodes that have a taint with this key.
func Tainted(key string) Predicate {
	return func(o *unstructured.Unstructured) bool { return karpenter.HasTaint(o, key) }
}

// TaintedWith matches nodes whose only taint with this key has this effect and no value.
func TaintedWith(key, effect string) Predicate { return TaintedWithValue(key, "", effect) }

// TaintedWithValue matches nodes whose only taint with this key has this value and this effect.
func TaintedWithValue(key, value, effect string) Predicate {
	only := []corev1.Taint{{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}}
	return func(o *unstructured.Unstructured) bool {
		return slices.Equal(only, slices.DeleteFunc(karpenter.Taints(o), func(t corev1.Taint) bool { return t.Key != key }))
	}
}

// Labeled matches objects that have this label with this value.
func Labeled(key, value string) Predicate {
	return func(o *unstructured.Unstructured) bool { return hasEntry(o.GetLabels(), key, value) }
}

// Annotated matches objects that have this annotation with this value.
func Annotated(key, value string) Predicate {
	return func(o *unstructured.Unstructured) bool { return hasEntry(o.GetAnnotations(), key, value) }
}

func hasEntry(m map[string]string, key, value string) bool {
	v, present := m[key]
	return present && v == value
}

// Holding matches nodes and NodeClaims with at least this much of a resource allocatable.
func Holding(name corev1.ResourceName, least string) Predicate {
	return func(o *unstructured.Unstructured) bool {
		allocatable := karpenter.Allocatable(o, name)
		return allocatable.Cmp(resource.MustParse(least)) >= 0
	}
}

// DeletedAt matches objects whose deletion was requested at this age, or at most late after
// it. It allows a second less, because the API server's times are whole seconds.
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

// OfNodeClass matches NodeClaims that refer to the NodeClass of this name.
func OfNodeClass(name string) Predicate {
	return func(o *unstructured.Unstructured) bool {
		is, _, _ := unstructured.NestedString(o.Object, "spec", "nodeClassRef", "name")
		return is == name
	}
}

// RequiringOne matches NodeClaims that require one value of a label.
func RequiringOne(key string) Predicate {
	return func(o *unstructured.Unstructured) bool { return len(karpenter.NodeClaimRequired(o, key)) == 1 }
}

// RequestingCPUs matches NodeClaims that request at least so many CPUs.
func RequestingCPUs(least string) Predicate {
	return func(o *unstructured.Unstructured) bool {
		requested := karpenter.NodeClaimRequests(o, corev1.ResourceCPU)
		return requested.Cmp(resource.MustParse(least)) >= 0
	}
}

// Requiring matches NodeClaims that require a label to have one of exactly these values.
func Requiring(key string, values ...string) Predicate {
	wanted := sets.New(values...)
	return func(o *unstructured.Unstructured) bool {
		return sets.New(karpenter.NodeClaimRequired(o, key)...).Equal(wanted)
	}
}
