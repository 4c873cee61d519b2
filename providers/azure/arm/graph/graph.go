// Package graph answers queries of Azure Resource Graph, in as much of KQL as Karpenter uses:
//
//	Resources | where type == "t" | where resourceGroup == "g" | where tags has_cs "a" | where not(tags has_cs "b")
package graph

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
)

// Query is a query for resources of one type.
type Query struct {
	Type  string // such as microsoft.compute/virtualmachines
	Group string // in lower case; empty: any
	// Tags and NoTags are the keys of tags that resources must have and must not have.
	Tags, NoTags []string
}

// clause matches what follows a | in a query.
var clause = regexp.MustCompile(
	`^where (?:(type|resourceGroup) == ['"]([^'"]+)['"]|(not\()?tags has_cs ['"]([^'"]+)['"]\)?)$`)

// Parse reads a query. Its error names the first clause that isn't known.
func Parse(text string) (q Query, err error) {
	for n, part := range strings.Split(text, "|") {
		part = strings.TrimSpace(part)
		found := clause.FindStringSubmatch(part)
		switch {
		case n == 0 && part == "Resources":
		case n == 0 || found == nil:
			return q, arm.Errorf(http.StatusBadRequest, "InvalidQuery", "The simulator does not know the clause %q.", part)
		case found[1] == "type":
			q.Type = strings.ToLower(found[2])
		case found[1] == "resourceGroup":
			q.Group = strings.ToLower(found[2])
		case found[3] != "":
			q.NoTags = append(q.NoTags, found[4])
		default:
			q.Tags = append(q.Tags, found[4])
		}
	}
	return q, nil
}

// Matches tells whether a resource of the type is one that the query asks for.
func (q Query) Matches(o arm.Object) bool {
	id, _ := o["id"].(string)
	tags, _ := o["tags"].(arm.Object)
	has := func(key string) bool { _, is := tags[key]; return is }
	lacks := func(key string) bool { return !has(key) }
	return (q.Group == "" || arm.Parse(id).Group == q.Group) &&
		!slices.ContainsFunc(q.Tags, lacks) && !slices.ContainsFunc(q.NoTags, has)
}
