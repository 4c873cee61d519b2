package cloud

import (
	"path"
	"slices"
	"strings"
)

// Filter keeps those resources of which an attribute has one of the values. In values * stands
// for any characters and ? for any one.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html.
type Filter struct {
	Name   string
	Values []string
}

// resource is what can be filtered: attribute returns what it has under a filter's name, and
// whether there is such a filter. Tags are seen to without it.
type resource interface {
	attribute(name string) (values []string, known bool)
	tags() map[string]string
}

// filtered returns those that match all filters. A filter that the kind of resource doesn't
// have is an error, as it is to AWS; one that AWS has and this doesn't must be added here.
func filtered[R resource](all []R, filters []Filter) ([]R, error) {
	var kept []R
	for _, r := range all {
		matches := true
		for _, f := range filters {
			has, known := valuesOf(r, f.Name)
			if !known {
				return nil, refuse("InvalidParameterValue", "The filter '%s' is invalid", f.Name)
			}
			matches = matches && slices.ContainsFunc(has, f.admits)
		}
		if matches {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

func valuesOf(r resource, name string) (values []string, known bool) {
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

func (f Filter) admits(value string) bool {
	return slices.ContainsFunc(f.Values, func(pattern string) bool {
		// A path has slashes, which * doesn't match in patterns of files.
		matched, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(value, "/", "\x00"))
		return err == nil && matched
	})
}

// chosen returns those of the IDs, or all if there are none; missing makes the error for an
// ID that nothing has.
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
