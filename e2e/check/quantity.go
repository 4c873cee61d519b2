package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Quantity is a named amount, such as "cpu of the NodeClaims of pool x".
type Quantity struct {
	Name string
	Of   func(*history.World) resource.Quantity
	// Objects returns the objects that make up the amount, for failures; optional.
	Objects func(*history.World) []*history.Object
	// Reads are the resources that Of looks at; empty means all.
	Reads []schema.GroupVersionResource
}

// Sum adds up an amount over the counted objects. words come before their name. The amount
// must depend on the object alone.
func Sum(words string, c Count, of func(*unstructured.Unstructured) resource.Quantity) Quantity {
	return Quantity{
		Name:    words + " " + c.Name,
		Objects: c.Of,
		Reads:   c.Reads,
		Of: func(w *history.World) resource.Quantity {
			var sum resource.Quantity
			for _, o := range c.Of(w) {
				sum.Add(of(o.Unstructured()))
			}
			return sum
		},
	}
}

// AtMostQuantity claims that the amount is at most the limit. It is exercised above zero.
func AtMostQuantity(limit resource.Quantity, q Quantity) Claim { return atMostQuantity{limit, q} }

type atMostQuantity struct {
	limit    resource.Quantity
	quantity Quantity
}

func (a atMostQuantity) String() string {
	return fmt.Sprintf("at most %s %s", a.limit.String(), a.quantity.Name)
}

func (a atMostQuantity) Reads() []schema.GroupVersionResource { return a.quantity.Reads }

func (a atMostQuantity) Holds(w *history.World) (ok, exercised bool) {
	q := a.quantity.Of(w)
	return q.Cmp(a.limit) <= 0, q.Sign() > 0
}

func (a atMostQuantity) Standing(w *history.World) string {
	q := a.quantity.Of(w)
	text := fmt.Sprintf("%s %s", q.String(), a.quantity.Name)
	if a.quantity.Objects == nil {
		return text
	}
	return text + lines(a.quantity.Objects(w))
}
