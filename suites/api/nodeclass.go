package api

import "github.com/plumbline-e2e/plumbline/e2e"

// Pools and NodeClaims refer to a NodeClass by group, kind and name only. The API server
// refuses an API version instead of the group, as in other references, because no such
// NodeClass is served. It refuses missing parts, because nobody can find the NodeClass.
//
// Source: nodeClassRef of the NodePool and NodeClaim API.
var _ = e2e.Table(Suite, map[string]rule{
	"missing": {
		name:     "refuses a nodeClassRef without its group, its kind or its name",
		of:       bothFields("nodeClassRef"),
		refused:  []string{"{kind: Class, name: a}", "{group: domain.test, name: a}", "{group: domain.test, kind: Class}"},
		because:  "Required value",
		accepted: []string{"{group: domain.test, kind: Class, name: a}"},
	},
	"empty": {
		name:  "refuses a nodeClassRef whose group, kind or name is empty",
		since: "1.1",
		of:    bothFields("nodeClassRef"),
		refused: []string{
			"{group: '', kind: Class, name: a}", "{group: domain.test, kind: '', name: a}",
			"{group: domain.test, kind: Class, name: ''}",
		},
		because:  "may not be empty",
		accepted: []string{"{group: domain.test, kind: Class, name: a}"},
	},
	"versioned-group": {
		name:     "refuses a nodeClassRef with a version in its group",
		of:       bothFields("nodeClassRef"),
		as:       "{group: %s, kind: Class, name: a}",
		refused:  []string{"domain.test/v1", "/domain.test"},
		because:  "nodeClassRef.group",
		accepted: []string{"domain.test"},
	},
}, rule.spec)
