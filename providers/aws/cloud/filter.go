package cloud

import (
	"path"
	"slices"
	"strings"
)

// Filter keeps the resources of which an attribute has one of the values. In values, * matches
// any characters and ? any single one.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html.
type Filter struct {
	Name   string
	Values []string
}

// filterable is an object that can be filtered. attribute returns the values for a filter's
// name, and whether the filter exists. It never gets the filters for tags.
type filterable interface {
	attribute(name string) (values []string, known bool)
	tags() map[string]string
}

// applyFilters returns the resources that match all filters. A filter that the resource does
// not have is an error, as in AWS. If AWS has it, add it to the resource's attribute method.
func applyFilters[R filterable](all []R, filters []Filter) ([]R, error) {
	var kept []R
	for _, r := range all {
		matches := true
		for _, f := range filters {
			has, known := valuesOf(r, f.Name)
			if !known {
				return nil, refuse("InvalidParameterValue", "The filter '%s' is invalid", f.Name)
			}
			matches = matches && slices.ContainsFunc(has, f.matches)
		}
		if matches {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

func valuesOf(r filterable, name string) (values []string, known bool) {
	if key, is := strings.CutPrefix(name, "tag:"); is {
		if value, has := r.tags()[key]; has {
			return []string{value}, true
		}
		return nil, true
	}
	if name == "tag-key" {
		for key := range r.tags() {
			values = append(values, key)
		}
		return values, true
	}
	return r.attribute(name)
}

func (f Filter) matches(value string) bool {
	return slices.ContainsFunc(f.Values, func(pattern string) bool {
		// In path.Match, * does not match slashes, but values such as paths contain them.
		matched, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(value, "/", "\x00"))
		return err == nil && matched
	})
}

// chosen returns the resources of the IDs, or all if there are no IDs. missing returns the
// error for an unknown ID.
func chosen[R any](all []R, ids []string, id func(R) string, missing func(id string) error) ([]R, error) {
	if len(ids) == 0 {
		return all, nil
	}
	var kept []R
	for _, wanted := range ids {
		at := slices.IndexFunc(all, func(r R) bool { return id(r) == wanted })
		if at < 0 {
			return nil, missing(wanted)
		}
		kept = append(kept, all[at])
	}
	return kept, nil
}
