package explore

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Has reports whether a sequence has all that makes another one special: what that does, and which fields its objects
// have that plain ones have not. The shortest sequence that breaks something then explains another one that breaks the
// same. Without that, the first mistake that breaks a promise would hide all others that do.
func (s Sequence) Has(other Sequence) bool { return s.traits().IsSuperset(other.special()) }

// Without returns a sequence without the actions that have something of what makes another one special. If it breaks
// the same still, it does so for another reason.
func (s Sequence) Without(other Sequence) Sequence {
	special := other.special()
	s.Actions = slices.DeleteFunc(slices.Clone(s.Actions), func(a Action) bool {
		return special.HasAny(a.traits()...)
	})
	return s
}

// Like reports whether the YAML of a sequence matches a pattern.
func (s Sequence) Like(pattern *regexp.Regexp) bool {
	text, err := s.YAML()
	return err == nil && pattern.Match(text)
}

// Unlike returns a sequence without the actions that make it like a pattern.
func (s Sequence) Unlike(pattern *regexp.Regexp) Sequence {
	for s.Like(pattern) {
		last := sort.Search(len(s.Actions), func(i int) bool { // of those that match together
			return Sequence{Actions: s.Actions[:i+1]}.Like(pattern)
		})
		if last == len(s.Actions) {
			break // no action does
		}
		s.Actions = slices.Delete(slices.Clone(s.Actions), last, last+1)
	}
	return s
}

// special returns what makes a sequence special.
func (s Sequence) special() sets.Set[string] { return s.traits().Difference(plain()) }

// plain returns the traits that say nothing. Names are like those of sequences, with a digit.
func plain() sets.Set[string] {
	const name = "plain1"
	all := sets.New[string]()
	for _, o := range []fixtures.Object{
		fixtures.NodePool().Called(name), fixtures.NodeClaim().Called(name), fixtures.Pod().Called(name),
		fixtures.Deployment(1).Called(name), fixtures.DaemonSet().Called(name),
	} {
		all.Insert(traitsOf(o.Unstructured())...)
	}
	return all.Insert(string(Apply), string(Wait))
}

// traits returns what a sequence does, and the fields of its objects.
func (s Sequence) traits() sets.Set[string] {
	all := sets.New[string]()
	for _, a := range s.Actions {
		all.Insert(a.traits()...)
	}
	return all
}

func (a Action) traits() []string {
	does := strings.TrimSpace(fmt.Sprint(a.Do, " ", a.Hook, a.Pattern, " ", a.Request))
	if a.Do == Apply {
		return append(traitsOf(a.object()), does)
	}
	return []string{does}
}

// traitsOf returns the fields of an object. Pods are the same, whoever makes them.
func traitsOf(o *unstructured.Unstructured) []string {
	template, made, _ := unstructured.NestedMap(o.Object, "spec", "template")
	if made && o.GetKind() != "NodePool" {
		o = o.DeepCopy()
		unstructured.RemoveNestedField(o.Object, "spec", "template")
		return append(fieldsOf(o.GetKind(), o.Object), fieldsOf("Pod", template)...)
	}
	return fieldsOf(o.GetKind(), o.Object)
}

// fieldsOf returns the paths of fields, such as "Pod spec tolerations operator=Exists". Values with digits are left
// out, as names and quantities have them: those of two sequences are never the same.
func fieldsOf(path string, value any) (paths []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			paths = append(paths, fieldsOf(path+" "+key, child)...)
		}
	case []any:
		for _, child := range v {
			paths = append(paths, fieldsOf(path, child)...)
		}
	case string:
		if !strings.ContainsAny(v, "0123456789") {
			path += "=" + v
		}
		return []string{path}
	default:
		return []string{path}
	}
	return paths
}
