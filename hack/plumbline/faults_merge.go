package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// partOfPoints returns the points of a shard. Each machine learns anew what there is to strike, and one may see a
// request more than another: so a point's own name says whose it is.
func partOfPoints(s e2e.Shard, points []e2e.FaultPoint) []e2e.FaultPoint {
	return slices.DeleteFunc(slices.Clone(points), func(p e2e.FaultPoint) bool {
		sum := fnv.New32a()
		sum.Write([]byte(p.ID()))
		return !s.Has(int(sum.Sum32() % uint32(max(s.Of, 1)))) //nolint:gosec // a small number
	})
}

// mergeFaults joins the parts of a run of faults. Recordings stay where they are.
func mergeFaults(artifacts string, parts []foundPart[faultsPlan]) error {
	all, missing, err := joinFaults(parts)
	if err != nil {
		return err
	}
	run, err := e2e.NewRunFolder(filepath.Join(artifacts, "faults"))
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(run, planFile), all.plan); err != nil {
		return err
	}
	return errors.Join(missing, all.conclude(run, 0))
}

// joinFaults returns what all parts have found together, and which parts are missing. The error says why they are not
// of one run.
func joinFaults(parts []foundPart[faultsPlan]) (all faultResults, missing, err error) {
	missing, err = checkParts(parts)
	first := parts[0]
	all = faultResults{
		plan: faultsPlan{Command: first.said.Command, Ends: map[string][]string{}}, of: outcomesByID{}, again: outcomesByID{},
	}
	differ := map[string]bool{}
	for _, p := range parts {
		if p.said.Command != first.said.Command {
			err = errors.Join(err, fmt.Errorf("%s and %s are of different runs: `%s` and `%s`", first.name(), p.name(),
				first.said.Command, p.said.Command))
		}
		all.plan.Points = append(all.plan.Points, p.said.Points...)
		for spec, end := range p.said.Ends {
			known, seen := all.plan.Ends[spec]
			differ[spec] = differ[spec] || seen && !slices.Equal(known, end)
			all.plan.Ends[spec] = end
		}
		err = errors.Join(err, all.of.read(p.folder, "struck-*"), all.again.read(p.folder, "again"))
	}
	for spec, differs := range differ {
		if differs {
			step(spec + " ends differently on different machines without a fault, so that ends aren't compared")
			delete(all.plan.Ends, spec)
		}
	}
	slices.SortFunc(all.plan.Points, func(a, b e2e.FaultPoint) int {
		return cmp.Or(strings.Compare(a.Spec, b.Spec), strings.Compare(a.Request, b.Request), cmp.Compare(a.Nth, b.Nth),
			strings.Compare(string(a.Pattern), string(b.Pattern)), cmp.Compare(a.Try, b.Try))
	})
	return all, missing, err
}

// read adds the outcomes of a part's runs of a name. Their recordings are where the part's folder is now.
func (of outcomesByID) read(folder, name string) error {
	runs, err := filepath.Glob(filepath.Join(folder, name, "*", "progress.jsonl"))
	if err != nil {
		return err
	}
	for _, file := range runs {
		outcomes, err := e2e.Outcomes(filepath.Dir(file))
		if err != nil {
			return err
		}
		for i, o := range outcomes {
			if o.History != "" {
				outcomes[i].History = filepath.Join(filepath.Dir(file), "histories", filepath.Base(o.History))
			}
		}
		of.add(outcomes)
	}
	return nil
}

// dealOfFaults identifies what a run of faults strikes, beside its provider.
func (c faultsConfig) dealOfFaults() string {
	return fmt.Sprintf("FOCUS=%s PATTERN=%s REQUEST=%s REPEATS=%d", c.focus(), strings.Join(patternNames(c.patterns), ","),
		c.request, c.repeats)
}
