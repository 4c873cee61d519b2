package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// fewWords bounds how many changes of one event a finding lists.
const fewWords = 5

// Change describes what an event changed of the object before it, in a few words. It is empty if there is nothing
// to compare with.
func Change(before *history.Object, e history.Event) string {
	if before == nil || e.Type == watch.Deleted {
		return ""
	}
	was, is := before.Unstructured(), e.Object.Unstructured()
	changes := taintChanges(was, is)
	changes = append(changes, conditionChanges(was, is)...)
	changes = append(changes, fieldChanges("", was.Object, is.Object)...)
	if more := len(changes) - fewWords; more > 0 {
		changes = append(changes[:fewWords], fmt.Sprintf("%d more", more))
	}
	return strings.Join(changes, "; ")
}

func taintChanges(was, is *unstructured.Unstructured) []string {
	names := func(u *unstructured.Unstructured) []string {
		var all []string
		for _, t := range karpenter.Taints(u) {
			all = append(all, t.ToString())
		}
		return all
	}
	old, now := names(was), names(is)
	var changes []string
	for _, t := range now {
		if !slices.Contains(old, t) {
			changes = append(changes, "taint "+t+" added")
		}
	}
	for _, t := range old {
		if !slices.Contains(now, t) {
			changes = append(changes, "taint "+t+" removed")
		}
	}
	return changes
}

func conditionChanges(was, is *unstructured.Unstructured) []string {
	var changes []string
	for _, now := range karpenter.Conditions(is) {
		old, had := karpenter.Condition(was, now.Type)
		switch {
		case !had:
			changes = append(changes, fmt.Sprintf("condition %s is %s", now.Type, now.Status))
		case old.Status != now.Status:
			changes = append(changes, fmt.Sprintf("condition %s from %s to %s", now.Type, old.Status, now.Status))
		}
	}
	for _, old := range karpenter.Conditions(was) {
		if _, has := karpenter.Condition(is, old.Type); !has {
			changes = append(changes, fmt.Sprintf("condition %s removed", old.Type))
		}
	}
	return changes
}

// untold are fields that change with every event, or that are described separately.
var untold = []string{
	"metadata.resourceVersion", "metadata.managedFields", "metadata.generation",
	"spec.taints", "status.conditions",
}

// fieldChanges compares field by field, and lists as a whole.
func fieldChanges(path string, was, is map[string]any) []string {
	keys := slices.Sorted(maps.Keys(is))
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, stays := is[k]; !stays {
			keys = append(keys, k)
		}
	}
	var changes []string
	for _, k := range keys {
		at := strings.TrimPrefix(path+"."+k, ".")
		old, had := was[k]
		now, has := is[k]
		oldMap, isMap := old.(map[string]any)
		nowMap, stillMap := now.(map[string]any)
		switch {
		case slices.Contains(untold, at) || equality.Semantic.DeepEqual(old, now):
		case stillMap && (isMap || !had):
			changes = append(changes, fieldChanges(at, oldMap, nowMap)...)
		case !had:
			changes = append(changes, fmt.Sprintf("%s set%s", at, short(" to ", now)))
		case !has:
			changes = append(changes, at+" removed")
		default:
			changes = append(changes, fmt.Sprintf("%s changed%s%s", at, short(" from ", old), short(" to ", now)))
		}
	}
	return changes
}

// short returns a word and a scalar. It returns nothing for long strings, lists and maps.
func short(word string, v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > 60 {
			return ""
		}
		return fmt.Sprintf("%s%q", word, v)
	case bool, int64, float64:
		return fmt.Sprintf("%s%v", word, v)
	default:
		return ""
	}
}
