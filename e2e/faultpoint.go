package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
)

// FaultPoint is a run of a spec in which one request of the controller fails. Without a pattern none does: such runs
// show what the others are compared with.
type FaultPoint struct {
	Spec    string         `json:"spec"` // its ID
	Pattern faults.Pattern `json:"pattern,omitempty"`
	Request string         `json:"request,omitempty"` // its kind, as in report.Outcome.Writes
	Nth     int            `json:"nth,omitempty"`     // which of them, from 1
	Try     int            `json:"try,omitempty"`     // tells repetitions apart
}

// ID identifies the run, such as drift/one-to-one/crash-after/patch-nodes/2, or drift/one-to-one/no-fault.
func (p FaultPoint) ID() string {
	parts := []string{p.Spec, "no-fault"}
	if p.Pattern != "" {
		parts = []string{p.Spec, string(p.Pattern), fit(p.Request), strconv.Itoa(p.Nth)}
	}
	if p.Try > 0 {
		parts = append(parts, strconv.Itoa(p.Try))
	}
	return strings.Join(parts, "/")
}

// recovery is how much longer a spec may take if the controller is killed: a new leader waits for the lease of the
// old one to end, and Karpenter tries some things again only after a minute.
const recovery = 2 * time.Minute

// WithFaults returns the specs of suites with the faults that a file lists, as JSON of []FaultPoint. The claims of a
// spec must hold although its fault strikes. A fault that never strikes makes it vacuous. At its end the cluster
// comes to rest, see report.Outcome.End.
func WithFaults(file string, suites ...*Suite) ([]*Suite, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	var points []FaultPoint
	if err := json.Unmarshal(data, &points); err != nil {
		return nil, fmt.Errorf("faults: %s: %w", file, err)
	}
	var struck []*Suite
	var mistakes []error
	for _, suite := range suites {
		made := NewSuite(suite.Name)
		for _, p := range points {
			for _, spec := range suite.specs {
				if spec.id != p.Spec {
					continue
				}
				if err := made.addStruck(spec, p); err != nil {
					mistakes = append(mistakes, err)
				}
			}
		}
		if len(made.specs) > 0 {
			struck = append(struck, made)
		}
	}
	for _, p := range points {
		if _, err := Find(suites, p.Spec); err != nil {
			mistakes = append(mistakes, err)
		}
	}
	return struck, errors.Join(mistakes...)
}

// addStruck adds a spec with a fault.
func (s *Suite) addStruck(spec *Spec, p FaultPoint) error {
	what, run := "without a fault", spec.Run
	if p.Pattern != "" {
		on, err := faults.ParseKind(p.Request)
		if err != nil {
			return err
		}
		fault, err := p.Pattern.At(on.Nth(p.Nth))
		if err = errors.Join(err, fault.Check()); err != nil {
			return fmt.Errorf("%s: %w", p.ID(), err)
		}
		what, run = fault.String(), func(ctx context.Context, env *Env) {
			env.Fault(ctx, fault)
			spec.Run(ctx, env)
		}
	}
	struck := *spec
	struck.id, struck.Row, struck.struck, struck.settles = p.ID(), "", true, env.SettlesWithin
	struck.Within, struck.Run = spec.timeLimit()+recovery, run
	struck.Name = fmt.Sprintf("%s; %s", spec.Name, what)
	if p.Try > 0 {
		struck.Name += fmt.Sprintf(", time %d", p.Try)
	}
	s.add(struck, spec.source, "")
	return nil
}
