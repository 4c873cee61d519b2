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

// Settings are settings of the controller, for Env.Configure.
type Settings = env.Settings

// About returns a node's name, provider ID and zone as values for a hook.
func About(node *history.Object) providers.HookValues { return env.About(node) }

// Spec tests one promise of a provider.
//
// The names of the provider, the suite and the spec form a sentence: "kwok: disruption budgets
// are never exceeded during drift". People read the sentence; all else uses the ID.
type Spec struct {
	// Name is the end of the sentence. It is unique in its suite.
	Name string
	// Row is the last part of the ID if a file declares several specs. Table sets it.
	Row string
	// Needs lists the capabilities that the provider must have. Nil: the suite's. If one is
	// missing, the spec is skipped, with the adapter's reason.
	Needs []providers.Capability
	// Hooks lists the adapter's hooks that the spec requires.
	Hooks []providers.HookName
	// Gate is the Karpenter feature gate that must be on. Empty: the suite's.
	Gate string
	// Since is the first release that makes the promise. Zero: the suite's.
	Since Since
	// Within limits the spec without its clean-up, in cluster time. The adapter's times for
	// Needs and Hooks are added. Zero: DefaultWithin.
	Within time.Duration
	// Foreground says that the spec calls Env.DeleteInForeground. The spec waits for the
	// cluster's garbage collector to know NodeClaims, up to 30 s after their CRD is installed.
	Foreground bool
	// Known lists releases that are known to break the promise. The spec still runs there. Its
	// failure is shown as known and does not fail the run.
	Known []Known
	// Breaks lists the invariants that the spec breaks on purpose. Any other broken one fails
	// it.
	Breaks []Breach
	// Upgrades says that the spec upgrades the provider to another release. It is skipped unless one
	// is given (Config.To), and the next spec gets a new cluster. Default: the suite's.
	Upgrades bool
	// Labels are selected with LABELS. The suite's name is always a label.
	Labels []string
	// Run is the spec's body. It fails the spec through env.
	Run func(ctx context.Context, env *Env)

	source  string // file:line of the declaration
	id      string
	struck  bool          // it is a copy made by WithFaults, beside which its suite has not all specs
	settles time.Duration // the cluster gets to come to rest afterwards; 0: it needn't
}

// Leaps reports whether the spec may take longer than cluster.Leap. It needs a cluster with
// cluster.Options.Leaps, and is skipped where time can't be bent.
func (s *Spec) Leaps() bool { return s.timeLimit() > cluster.Leap }

// DefaultWithin is the time limit of a spec without Within, in cluster time.
const DefaultWithin = 2 * time.Minute

// Since holds the first releases with a promise, as major.minor. Empty: every release.
type Since struct {
	Karpenter, Kubernetes string
}

// Breach is an invariant that a spec breaks on purpose.
type Breach struct {
	Invariant string // its name, such as "budgets are never exceeded"; see invariant.All
	Why       string // the reason, in a sentence
}

// Suite is a set of specs about one behavior.
type Suite struct {
	// Name begins the sentences of its specs. It is their subject, such as "disruption
	// budgets", or a topic with a colon, such as "cloud:", if the provider is the subject.
	Name string
	// Needs, Gate, Since and Upgrades are the defaults of its specs. Nil Needs mean NodePools.
	Needs    []providers.Capability
	Gate     string
	Since    Since
	Upgrades bool
	// Measured is how long its specs take in real time, by ID, as measured once for everybody. By it they are dealt to
	// the machines of a run; see Shard.
	Measured map[string]time.Duration

	specs     []*Spec
	catalogue []*Suite // that it is of; nil: of none
}

// NewSuite returns an empty suite.
func NewSuite(name string) *Suite { return &Suite{Name: name} }

// Catalogue returns suites that belong together. Only a run that has all of them is complete.
func Catalogue(suites ...*Suite) []*Suite {
	for _, s := range suites {
		s.catalogue = suites
	}
	return suites
}

// wholeCatalogue reports whether suites have all of a catalogue. They may have others as well.
func wholeCatalogue(suites []*Suite) bool {
	return slices.ContainsFunc(suites, func(s *Suite) bool {
		return s.catalogue != nil && !slices.ContainsFunc(s.catalogue, func(other *Suite) bool {
			return !slices.Contains(suites, other)
		})
	})
}

// Add adds a spec and returns it. It panics if the Name or Run is missing, if the Name or ID
// is taken, if Breaks names an unknown invariant, or if a Known is incomplete. So mistakes in
// a suite show when its package is loaded.
func (s *Suite) Add(spec Spec) *Spec {
	source, id := caller()
	return s.add(spec, source, id)
}

// Table adds a spec for each row, for promises that differ only in data: the operators of a
// requirement, the fields that drift. Each row is a spec of its own. Its key ends the ID.
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
		if b.Why == "" || !slices.ContainsFunc(invariant.All(), func(i invariant.Invariant) bool {
			return i.Name == b.Invariant
		}) {
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
	spec.Upgrades = spec.Upgrades || s.Upgrades
	spec.source = source
	s.specs = append(s.specs, &spec)
	return &spec
}

// Specs returns the specs sorted by ID. So the order does not depend on file order, and the
// rows of a table stay together.
func (s *Suite) Specs() []*Spec {
	return slices.SortedFunc(slices.Values(s.specs), func(a, b *Spec) int { return strings.Compare(a.id, b.id) })
}

// Source returns where the spec is declared, as file:line.
func (s *Spec) Source() string { return s.source }

func (s *Spec) timeLimit() time.Duration { return cmp.Or(s.Within, DefaultWithin) }

// Title returns the suite's name without the colon.
func (s *Suite) Title() string { return strings.TrimSuffix(s.Name, ":") }

// label returns the title as a Ginkgo label, without spaces. A label may not contain commas.
func (s *Suite) label() string { return strings.ReplaceAll(s.Title(), " ", "-") }

// labels returns the labels that LABELS selects by.
func (s *Spec) labels(suite *Suite) []string {
	return append([]string{suite.label()}, s.Labels...)
}
