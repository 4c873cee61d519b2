package e2e

import (
	"context"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// AddSequence adds a spec that plays a sequence, such as one that was found and shrunk. All invariants are judged.
func (s *Suite) AddSequence(name string, sequence explore.Sequence) *Spec {
	source, id := caller()
	spec := specOf(name, sequence)
	spec.Needs = sequence.Needs()
	return s.add(spec, source, id)
}

func specOf(name string, s explore.Sequence) Spec {
	return Spec{
		Name: name, Hooks: s.Hooks(), Within: s.Within(), Needs: []providers.Capability{}, Breaks: breachesOf(s),
		Foreground: s.Foreground(),
		Run:        func(ctx context.Context, env *Env) { s.Play(ctx, env) },
	}
}

func breachesOf(s explore.Sequence) (all []Breach) {
	for invariant, why := range s.Breaks() {
		all = append(all, Breach{Invariant: invariant, Why: why})
	}
	return all
}

// explored is the suite of sequences that are made up in a run.
const explored = "explore"

// settles is how long the cluster gets to come to rest after such a sequence. What it still does then matters less than
// another sequence.
const settles = 90 * time.Second

// play plays a sequence of a trial. Then the cluster comes to rest. Of a sequence that failed, it also returns what is
// left without what is known to fail, and of others all.
func (r *Registration) play(
	ctx context.Context, suites []*Suite, s explore.Sequence,
) (o report.Outcome, unknown explore.Sequence) {
	suite, spec := NewSuite(explored), specOf(s.Name, s)
	spec.id, spec.settles = explored+"/"+s.Name, settles
	o = r.runInSession(ctx, suite, suite.add(spec, "", ""))
	if o.Verdict != report.Failed {
		return o, s
	}
	known, unknown, err := knownExplored(suites, r.adapter, s, r.core, o.Broke)
	if err != nil {
		o.Note = strings.TrimSpace(o.Note + " " + err.Error())
	}
	if known != nil {
		settle(&o, known)
		if others := known.unexcused(o.Broke); len(others) > 0 {
			o.Broke = others // what is known is no reason to look into it
		}
	}
	return o, unknown
}
