package api

import (
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// The API server refuses requirements that cannot be met or mean something unintended,
// and says at once what is wrong. Otherwise pods would stay pending for hours. Labels
// that Karpenter sets itself are restricted. A NodeClaim may name its pool, because this
// makes it part of the pool.
//
// Source: spec.requirements of the NodeClaim API and spec.template.spec.requirements
// of the NodePool API; Karpenter's regression suite, "should error when a
// requirement references a restricted label", "... uses In but has no values",
// "... uses an unknown operator" and "should error when Gt is used with multiple
// integer values".
var _ = e2e.Table(Suite, map[string]rule{
	"own-domain": {
		name:     "refuses requirements of labels in Karpenter's own domain, but for the capacity type",
		of:       bothFields("requirements"),
		as:       "[{key: %s, operator: Exists}]",
		refused:  []string{"karpenter.sh/custom", "sub.karpenter.sh/custom"},
		because:  `label domain "karpenter.sh" is restricted`,
		accepted: []string{"karpenter.sh/capacity-type", "plumbline.test/custom"},
	},
	"host-name": {
		name:     "refuses requirements of the host name",
		of:       bothFields("requirements"),
		as:       "[{key: %s, operator: In, values: [here]}]",
		refused:  []string{"kubernetes.io/hostname"},
		because:  `label "kubernetes.io/hostname" is restricted`,
		accepted: []string{"plumbline.test/hostname"},
	},
	"pool-name": {
		name:     "refuses requirements of the pool's name in a pool",
		of:       pool("template.spec.requirements"),
		as:       "[{key: %s, operator: In, values: [other]}]",
		refused:  []string{"karpenter.sh/nodepool"},
		because:  `label "karpenter.sh/nodepool" is restricted`,
		accepted: []string{"plumbline.test/nodepool"},
	},
	"nodeclaim-pool-name": {
		name:     "accepts requirements of the pool's name in a NodeClaim",
		of:       nodeClaim("requirements"),
		as:       "[{key: %s, operator: In, values: [other]}]",
		refused:  []string{"karpenter.sh/nodeclaim"},
		because:  `label domain "karpenter.sh" is restricted`,
		accepted: []string{"karpenter.sh/nodepool"},
	},
	"kubernetes-domains": {
		name:     "accepts requirements of labels in Kubernetes' own domains",
		since:    "1.9",
		of:       bothFields("requirements"),
		as:       "[{key: %s, operator: Exists}]",
		refused:  []string{"kubernetes.io/hostname"},
		because:  `label "kubernetes.io/hostname" is restricted`,
		accepted: []string{"kubernetes.io/custom", "k8s.io/custom"},
	},
	"keys": {
		name:     "refuses requirements whose key is not a valid label",
		of:       bothFields("requirements"),
		as:       "[{key: %s, operator: Exists}]",
		refused:  []string{"a b", "Domain.test/a", "a/", "''", strings.Repeat("a", 317)},
		because:  "requirements[0].key",
		accepted: []string{"a", "domain.test/A_b.c-d"},
	},
	"missing": {
		name:     "refuses requirements without a key, and without an operator",
		of:       bothFields("requirements"),
		refused:  []string{"[{operator: Exists}]", "[{key: a}]"},
		because:  "Required value",
		accepted: []string{"[{key: a, operator: Exists}]"},
	},
	"operators": {
		name:     "refuses operators that it doesn't know",
		of:       bothFields("requirements"),
		as:       "[{key: a, operator: %s, values: [x]}]",
		refused:  []string{"within", "in", "''"},
		because:  "requirements[0].operator",
		accepted: []string{"In", "NotIn", "Exists", "DoesNotExist"},
	},
	"in-without-values": {
		name:     "refuses In without values",
		of:       bothFields("requirements"),
		refused:  []string{"[{key: a, operator: In, values: []}]"},
		because:  "requirements with operator 'In' must have a value defined",
		accepted: []string{"[{key: a, operator: In, values: [x]}]"},
	},
	"gt-lt": {
		name:     "refuses Gt and Lt with anything but one whole number that isn't negative",
		of:       bothFields("requirements"),
		as:       "[{key: a, %s}]",
		refused:  append(comparisons("Gt"), comparisons("Lt")...),
		accepted: []string{"operator: Gt, values: ['0']", "operator: Lt, values: ['17']"},
	},
	"below-zero": {
		name:     "refuses requirements that only numbers below zero meet, which no label can have",
		known:    belowZero,
		of:       pool("template.spec.requirements"),
		as:       "[{key: a, operator: Lt, values: [%s]}]",
		refused:  []string{"'0'"},
		accepted: []string{"'1'"},
	},
	"gte-lte": {
		name:     "accepts Gte and Lte with one whole number that isn't negative",
		since:    "1.9",
		of:       bothFields("requirements"),
		as:       "[{key: a, %s}]",
		refused:  append(comparisons("Gte"), comparisons("Lte")...),
		accepted: []string{"operator: Gte, values: ['0']", "operator: Lte, values: ['17']"},
	},
	"too-many": {
		name:     "refuses more than 100 requirements",
		of:       bothFields("requirements"),
		refused:  []string{repeatEntry(101, "{key: plumbline.test/r%d, operator: Exists}")},
		accepted: []string{repeatEntry(50, "{key: plumbline.test/r%d, operator: Exists}")}, // and the provider's own
	},
	"min-values": {
		name:     "refuses minValues below 1 and above 50",
		of:       bothFields("requirements"),
		as:       "[{key: a, operator: Exists, minValues: %s}]",
		refused:  []string{"0", "-1", "51"},
		because:  "requirements[0].minValues",
		accepted: []string{"1", "50"},
	},
	"min-values-of-in": {
		name:     "refuses minValues of more values than In is given",
		of:       bothFields("requirements"),
		as:       "[{key: a, operator: %s}]",
		refused:  []string{"In, values: [x], minValues: 2", "In, values: [w, x], minValues: 50"},
		because:  "requirements with 'minValues' must have at least that many values specified in the 'values' field",
		accepted: []string{"In, values: [w, x], minValues: 2", "NotIn, values: [x], minValues: 2"},
	},
}, rule.spec)

// belowZero is a failure of releases that choose a number for a label, even where there is none.
var belowZero = []e2e.Known{{
	Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the rule is the same in v1.0.8
	Issue:    e2e.Finding("karpenter-pods-that-crash-the-controller"),
	Reason:   "Lt 0 is accepted, and then each pod of the NodePool crashes the controller",
	Breaks:   []string{"it should have been refused"},
}}

// comparisons returns requirements with an operator and values that it does not allow.
func comparisons(operator string) []string {
	var all []string
	for _, values := range []string{"['1', '2']", "[]", "['-1']", "[many]"} {
		all = append(all, "operator: "+operator+", values: "+values)
	}
	return all
}
