package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Balanced claims that the numbers of objects per value of a label differ by at most skew. A
// topology spread constraint demands this of nodes, if each of its pods has its own node.
// Objects without the label do not count. It is exercised while there are at least two values.
func Balanced(skew int, objects Count, label string) Claim { return balanced{skew, objects, label} }

type balanced struct {
	skew    int
	objects Count
	label   string
}

func (b balanced) String() string {
	return fmt.Sprintf("%s are spread over %s with a skew of at most %d", b.objects.Name, b.label, b.skew)
}

func (b balanced) Reads() []schema.GroupVersionResource { return b.objects.Reads }

func (b balanced) Holds(w *history.World) (ok, exercised bool) {
	numbers := slices.Collect(maps.Values(b.numbers(w)))
	if len(numbers) < 2 {
		return true, false
	}
	return slices.Max(numbers)-slices.Min(numbers) <= b.skew, true
}

func (b balanced) Standing(w *history.World) string {
	numbers := b.numbers(w)
	var words []string
	for _, value := range slices.Sorted(maps.Keys(numbers)) {
		words = append(words, fmt.Sprintf("%d with %s", numbers[value], value))
	}
	return strings.Join(words, ", ") + lines(b.objects.Of(w))
}

// numbers counts the objects by value of the label.
func (b balanced) numbers(w *history.World) map[string]int {
	numbers := map[string]int{}
	for _, o := range b.objects.Of(w) {
		if value := karpenter.Label(o.Unstructured(), b.label); value != "" {
			numbers[value]++
		}
	}
	return numbers
}
