package upgrade

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// volatile matches fields that say what is so now, and may change at any time. The hashes of NodePools and NodeClasses,
// and their versions, have their own spec.
var volatile = regexp.MustCompile(
	`^(metadata\.(resourceVersion|generation|managedFields|annotations\..+-hash(-version)?)` +
		`|status\.(conditions|nodes|resources|lastPodEventTime|nodeClassObservedGeneration))$`)

// keepsFields claims that the custom resources of a moment have every field that they had then, with
// the same value. They may have more. The status of a NodeClass is what a release has found in its cloud, and
// the next one may find something else.
func keepsFields(before *history.World) check.Claim {
	kinds := slices.DeleteFunc(before.Resources(), func(kind schema.GroupVersionResource) bool {
		return !strings.Contains(kind.Group, ".") || kind == karpenter.PodDisruptionBudgets
	})
	holds := func(w *history.World) (ok, exercised bool, standing string) {
		var lost []string
		for _, kind := range kinds {
			for _, was := range before.List(kind) {
				exercised = true
				lost = append(lost, lostBy(was, w.Get(kind, was.Namespace, was.Name))...)
			}
		}
		return len(lost) == 0, exercised, strings.Join(lost, "\n")
	}
	return check.That("Karpenter's objects keep every field", holds, kinds...)
}

// lostBy returns what an object has lost, one sentence each. It is nil if the object is gone.
func lostBy(was, is *history.Object) []string {
	what := was.Unstructured().GetKind() + " " + was.Name
	if is == nil {
		return []string{what + " is gone"}
	}
	fields := maps.Clone(was.Unstructured().Object)
	if was.Unstructured().GroupVersionKind().Group != karpenter.NodePools.Group {
		delete(fields, "status")
	}
	lost := lostFields("", fields, is.Unstructured().Object)
	for i, field := range lost {
		lost[i] = what + ": " + field
	}
	return lost
}

// lostFields returns what a value at a path lacks, or has otherwise, compared with the one before.
func lostFields(path string, was, is any) []string {
	fields, isMap := was.(map[string]any)
	now, stillMap := is.(map[string]any)
	switch {
	case volatile.MatchString(path):
		return nil
	case !isMap && reflect.DeepEqual(was, is):
		return nil
	case !isMap || !stillMap:
		return []string{fmt.Sprintf("%s was %v, and is %v", path, was, is)}
	}
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		lost = append(lost, lostFields(strings.TrimPrefix(path+"."+name, "."), fields[name], now[name])...)
	}
	return lost
}
