package placement

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// requirement is an entry of a NodePool's requirements.
type requirement struct {
	Key       string                      `json:"key"`
	Operator  corev1.NodeSelectorOperator `json:"operator"`
	Values    []string                    `json:"values"`
	MinValues *int64                      `json:"minValues"`
}

// Operators of NodePools that node selectors lack (Karpenter: pkg/apis/v1/nodeclaim.go).
const (
	gte corev1.NodeSelectorOperator = "Gte"
	lte corev1.NodeSelectorOperator = "Lte"
)

// allows reports whether a label satisfies the requirement. An unknown operator allows nothing.
func (r requirement) allows(value string, has bool) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return has && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !has || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return has
	case corev1.NodeSelectorOpDoesNotExist:
		return !has
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, gte, lte:
		return has && r.compares(value)
	default:
		return false
	}
}

// others returns values of which a requirement that doesn't list what it allows may allow some.
func (r requirement) others() []string {
	values := []string{"plumbline"}
	for _, v := range r.Values {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			values = append(values, strconv.FormatInt(n-1, 10), v, strconv.FormatInt(n+1, 10))
		}
	}
	return values
}

func (r requirement) compares(value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || len(r.Values) != 1 {
		return false
	}
	bound, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil {
		return false
	}
	switch r.Operator {
	case corev1.NodeSelectorOpGt:
		return n > bound
	case corev1.NodeSelectorOpLt:
		return n < bound
	case gte:
		return n >= bound
	default:
		return n <= bound
	}
}
