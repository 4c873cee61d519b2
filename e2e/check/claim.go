package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Claim is true or false at one moment.
type Claim interface {
	// String returns the claim in words, such as "at most 2 nodes of pool x".
	String() string
	// Holds reports whether the claim is true in a world, and whether the world exercised it,
	// that is, put it to the test.
	Holds(w *history.World) (ok, exercised bool)
	// Standing describes the objects that matter to the claim, one per line, for failures.
	Standing(w *history.World) string
	// Reads returns the resources that the claim looks at; empty means all. The claim is not
	// evaluated after other events.
	Reads() []schema.GroupVersionResource
}

// That returns a claim that a function decides. words is the claim in words. reads are the
// resources that f looks at; none means all. The standing has one object per line.
func That(words string, f func(w *history.World) (ok, exercised bool, standing string),
	reads ...schema.GroupVersionResource,
) Claim {
	return that{words, f, reads}
}

type that struct {
	words string
	f     func(w *history.World) (ok, exercised bool, standing string)
	reads []schema.GroupVersionResource
}

func (t that) String() string                       { return t.words }
func (t that) Reads() []schema.GroupVersionResource { return t.reads }

func (t that) Holds(w *history.World) (ok, exercised bool) {
	ok, exercised, _ = t.f(w)
	return ok, exercised
}

func (t that) Standing(w *history.World) string {
	_, _, standing := t.f(w)
	return standing
}

// Untrue claims that a claim is false. It is exercised when the claim is.
func Untrue(c Claim) Claim { return untrue{c} }

type untrue struct{ Claim }

func (u untrue) String() string { return fmt.Sprintf("not (%s)", u.Claim) }

func (u untrue) Holds(w *history.World) (ok, exercised bool) {
	ok, exercised = u.Claim.Holds(w)
	return !ok, exercised
}

// AllOf claims that all claims are true. It is exercised when each of them is.
func AllOf(claims ...Claim) Claim { return several{claims, "and", true} }

// AnyOf claims that at least one claim is true. It is exercised when any of them is.
func AnyOf(claims ...Claim) Claim { return several{claims, "or", false} }

// When claims something only while a condition is true. Only then is it exercised:
// When(AtLeast(1, DriftedNodeClaims(pool)), None(DisruptedNodes(pool))) needs some drift.
func When(condition, claim Claim) Claim { return when{condition, claim} }

type several struct {
	claims []Claim
	word   string
	all    bool
}

func (s several) String() string {
	var words []string
	for _, c := range s.claims {
		words = append(words, c.String())
	}
	return strings.Join(words, " "+s.word+" ")
}

func (s several) Holds(w *history.World) (ok, exercised bool) {
	ok, exercised = s.all, s.all
	for _, c := range s.claims {
		o, e := c.Holds(w)
		if s.all {
			ok, exercised = ok && o, exercised && e
		} else {
			ok, exercised = ok || o, exercised || e
		}
	}
	return ok, exercised
}

func (s several) Standing(w *history.World) string {
	var parts []string
	for _, c := range s.claims {
		parts = append(parts, c.Standing(w))
	}
	return strings.Join(parts, "\n")
}

func (s several) Reads() []schema.GroupVersionResource { return readsOf(s.claims...) }

type when struct{ condition, claim Claim }

func (c when) String() string { return fmt.Sprintf("%s when %s", c.claim, c.condition) }

func (c when) Holds(w *history.World) (ok, exercised bool) {
	if now, _ := c.condition.Holds(w); !now {
		return true, false
	}
	return c.claim.Holds(w)
}

func (c when) Standing(w *history.World) string {
	return c.condition.Standing(w) + "\n" + c.claim.Standing(w)
}

func (c when) Reads() []schema.GroupVersionResource { return readsOf(c.condition, c.claim) }

// readsOf returns the resources that the claims read; empty (all) if one of them reads all.
func readsOf(claims ...Claim) []schema.GroupVersionResource {
	if len(claims) == 0 {
		return nil
	}
	reads := claims[0].Reads()
	for _, c := range claims[1:] {
		reads = readsBoth(reads, c.Reads())
	}
	return reads
}
