package api

import "github.com/plumbline-e2e/plumbline/e2e"

// A pool or NodeClaim says which NodeClass it means by group, kind and name, and
// by nothing else: an API version in place of the group, as other references have
// it, would mean a NodeClass that nobody serves, and a part that is missing one
// that nobody can find.
//
// Source: nodeClassRef of the NodePool and NodeClaim API.
var _ = e2e.Table(Suite, map[string]rule{
	"missing": {
		name:     "refuses a nodeClassRef without its group, its kind or its name",
		of:       both("nodeClassRef"),
		refused:  []string{"{kind: Class, name: a}", "{group: domain.test, name: a}", "{group: domain.test, kind: Class}"},
		because:  "Required value",
		accepted: []string{"{group: domain.test, kind: Class, name: a}"},
	},
	"empty": {
		name:  "refuses a nodeClassRef whose group, kind or name is empty",
		since: "1.1",
		of:    both("nodeClassRef"),
		refused: []string{
			"{group: '', kind: Class, name: a}", "{group: domain.test, kind: '', name: a}",
			"{group: domain.test, kind: Class, name: ''}",
		},
		because:  "may not be empty",
		accepted: []string{"{group: domain.test, kind: Class, name: a}"},
	},
	"versioned-group": {
		name:     "refuses a nodeClassRef with a version in its group",
		of:       both("nodeClassRef"),
		as:       "{group: %s, kind: Class, name: a}",
		refused:  []string{"domain.test/v1", "/domain.test"},
		because:  "nodeClassRef.group",
		accepted: []string{"domain.test"},
	},
}, rule.spec)
