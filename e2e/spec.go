package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Env is what a spec works with: one cluster, one provider, one recording.
type Env = env.Env

// Cell is what kubectl prints of an object in one column, see Env.Prints.
type Cell = env.Cell

// About names a node, its instance and its zone to a hook.
func About(node *history.Object) providers.HookValues { return env.About(node) }

// Spec is one promise that a provider makes, put to the test.
//
// Its name completes a sentence: "kwok: disruption budgets are never exceeded
// during drift" is the provider, the suite and the spec. People read that sentence,
// and all else names the spec by its ID; see Spec.ID.
type Spec struct {
	// Name is the end of that sentence; unique in its suite.
	Name string
	// Row ends the ID of a spec that is not alone in its file; Table sets it.
	Row string
	// Needs lists what the provider must be able to do; nil: the suite's. The spec is
	// skipped, with the adapter's reason, where it can't.
	Needs []providers.Capability
	// Hooks lists those of the adapter that the spec calls, and can't do without.
	Hooks []providers.HookName
	// Gate is the Karpenter feature gate that must be on; empty: the suite's.
	Gate string
	// Since is the first release that makes the promise; zero: the suite's.
	Since Since
	// Within bounds the spec without its clean-up, in cluster time, beside what the adapter
	// gives the provider for what the spec needs and for its hooks. Zero: DefaultWithin.
	Within time.Duration
	// Foreground says that the spec deletes by Env.DeleteInForeground. It begins when
	// the cluster's garbage collector knows NodeClaims, up to half a minute after their
	// CRD is installed.
	Foreground bool
	// Known lists releases that are known to break the promise. The spec still
	// runs there; its failure is shown as known and does not fail the run.
	Known []Known
	// Breaks lists the invariants that the spec breaks on purpose. All others are
	// judged over its recording and fail it.
	Breaks []Breach
	// Labels are selected with LABELS; the suite's name is always one.
	Labels []string
	// Run arranges, changes, awaits and expects. It fails the spec through env.
	Run func(ctx context.Context, env *Env)

	source string // file:line of the declaration
	id     string
}

// Leaps says whether the spec lets days or months pass, by the time that it may take. It
// runs on a cluster of its own, see cluster.Options, and is skipped where time can't be
// bent.
func (s *Spec) Leaps() bool { return s.within() > cluster.Leap }

// DefaultWithin bounds a spec that doesn't say how long it may take.
const DefaultWithin = 2 * time.Minute

// Since names the first releases in which a promise holds, as major.minor;
// empty means that every release makes it.
type Since struct {
	Karpenter, Kubernetes string
}

// Breach is an invariant that a spec breaks on purpose.
type Breach struct {
	Invariant string // its name, such as "budgets are never exceeded"; see invariant.All
	Why       string // in a sentence
}

// Suite is a set of specs about one behaviour.
type Suite struct {
	Name string // such as "disruption budgets": the subject of its specs' sentences
	// Needs, Gate and Since are those of its specs that don't say otherwise. Without Needs
	// that is NodePools.
	Needs []providers.Capability
	Gate  string
	Since Since

	specs []*Spec
}

// NewSuite returns an empty suite.
func NewSuite(name string) *Suite { return &Suite{Name: name} }

// Add adds a spec and returns it. It panics on a spec without a name or a
// body, on a second one of the same name or ID, on a breach of an invariant that
// there isn't, and on a known failure that doesn't say what breaks: these are mistakes
// of whoever wrote the suite, and show when its package is loaded.
func (s *Suite) Add(spec Spec) *Spec {
	source, id := caller()
	return s.add(spec, source, id)
}

// Table adds a spec for each row, for promises that differ in data alone: the
// operators of a requirement, the fields that drift. Each row has a sentence of
// its own and is run, reported and selected alone; its key ends its ID.
func Table[Row any](s *Suite, rows map[string]Row, spec func(Row) Spec) []*Spec {
	source, id := caller()
	specs := make([]*Spec, 0, len(rows))
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		made := spec(rows[key])
		made.Row = key
		specs = append(specs, s.add(made, source, id))
	}
	return specs
}

func (s *Suite) add(spec Spec, source, id string) *Spec {
	if spec.Name == "" || spec.Run == nil {
		panic(fmt.Sprintf("suite %q: a spec needs a Name and a Run", s.Name))
	}
	s.identify(&spec, id)
	for _, other := range s.specs {
		if other.Name == spec.Name {
			panic(fmt.Sprintf("suite %q has two specs named %q", s.Name, spec.Name))
		}
	}
	for _, b := range spec.Breaks {
		if b.Why == "" || !slices.ContainsFunc(invariant.All(), func(i invariant.Invariant) bool { return i.Name == b.Invariant }) {
			panic(fmt.Sprintf("suite %q, spec %q: Breaks needs the name of an invariant, and why: %+v", s.Name, spec.Name, b))
		}
	}
	for _, k := range spec.Known {
		if err := k.check(); err != nil {
			panic(fmt.Sprintf("suite %q, spec %q: %v", s.Name, spec.Name, err))
		}
	}
	if spec.Needs == nil {
		spec.Needs = s.Needs
	}
	if spec.Needs == nil {
		spec.Needs = []providers.Capability{providers.NodePools}
	}
	spec.Gate, spec.Since = cmp.Or(spec.Gate, s.Gate), cmp.Or(spec.Since, s.Since)
	spec.source = source
	s.specs = append(s.specs, &spec)
	return &spec
}

// Specs returns the suite's specs, sorted by ID so that the order does not
// depend on that of files, and the rows of a table stay together.
func (s *Suite) Specs() []*Spec {
	return slices.SortedFunc(slices.Values(s.specs), func(a, b *Spec) int { return strings.Compare(a.id, b.id) })
}

// Source is where the spec is declared, as file:line.
func (s *Spec) Source() string { return s.source }

// within bounds the spec, whether it says so or not.
func (s *Spec) within() time.Duration { return cmp.Or(s.Within, DefaultWithin) }

// label is the suite's name as a Ginkgo label, which may not hold commas and
// reads better without spaces.
func (s *Suite) label() string { return strings.ReplaceAll(s.Name, " ", "-") }

// labels are what LABELS selects by.
func (s *Spec) labels(suite *Suite) []string {
	return append([]string{suite.label()}, s.Labels...)
}
