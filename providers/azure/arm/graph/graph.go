// Package graph answers queries of Azure Resource Graph, in as much of KQL as Karpenter uses:
//
//	Resources | where type == "t" | where resourceGroup == "g" | where tags has_cs "a" | where not(tags has_cs "b")
package graph

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
)

// Query is a query for resources of one type.
type Query struct {
	Type string // such as microsoft.compute/virtualmachines
	keep []func(arm.Object) bool
}

// clause matches what follows a | in a query.
var clause = regexp.MustCompile(
	`^where (?:(type|resourceGroup) == ['"]([^'"]+)['"]|(not\()?tags has_cs ['"]([^'"]+)['"]\)?)$`)

// Parse reads a query. Its error names the first clause that isn't known.
func Parse(text string) (Query, error) {
	var q Query
	table, rest, _ := strings.Cut(text, "|")
	if !strings.EqualFold(strings.TrimSpace(table), "resources") {
		return q, unknown(table)
	}
	for part := range strings.SplitSeq(rest, "|") {
		found := clause.FindStringSubmatch(strings.TrimSpace(part))
		if found == nil {
			return q, unknown(part)
		}
		field, value, not, key := found[1], strings.ToLower(found[2]), found[3] != "", found[4]
		switch field {
		case "type":
			q.Type = value
		case "resourceGroup":
			q.keep = append(q.keep, func(o arm.Object) bool {
				id, _ := o["id"].(string)
				return arm.Parse(id).Group == value
			})
		default:
			q.keep = append(q.keep, func(o arm.Object) bool { return tagged(o, key) != not })
		}
	}
	return q, nil
}

func unknown(clause string) error {
	return arm.Errorf(http.StatusBadRequest, "InvalidQuery", "The simulator does not know the clause %q.",
		strings.TrimSpace(clause))
}

// tagged tells whether a resource has a tag of that key, or with that value.
func tagged(o arm.Object, term string) bool {
	tags, _ := o["tags"].(arm.Object)
	for key, value := range tags {
		if key == term || value == term {
			return true
		}
	}
	return false
}

// Matches tells whether a resource of the type is one that the query asks for.
func (q Query) Matches(o arm.Object) bool {
	for _, keep := range q.keep {
		if !keep(o) {
			return false
		}
	}
	return true
}
