package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/suites"
)

// faultsTest is the test of the conformance program that runs specs with faults.
const faultsTest = "^TestFaults$"

// scenarios are the specs that are struck by default: one for each way in which nodes come and go. What they claim
// holds whenever the controller is killed.
const scenarios = "^(chaos/refused|provisioning/fits|provisioning/in-flight|drift/one-to-one|drift/pod-budget|" +
	"consolidation/several|consolidation/delete|expiration/one-to-one|termination/pod-budget|termination/instance-first|" +
	"nodeclaim/alone|static/(raised|lowered)|buffer/filled|repair/replaced|cloud/announced/interruption)$"

// faultsConfig says which requests of which specs are struck, and how.
type faultsConfig struct {
	e2e.Config
	binary, provider string
	patterns         []faults.Pattern
	request          string // REQUEST: only this kind; empty: all
	nth              int    // NTH: only this one of them, without a look at an honest run first; 0: all
	repeats          int    // REPEATS: how often each is struck
	only             string // the ID of one point, from FOCUS; empty: FOCUS chooses specs
	resume           string // RESUME: the folder of an earlier run that goes on; empty: none
}

// pointID matches a point's ID in FOCUS, as reports write it.
var pointID = regexp.MustCompile(`^\^?((.+)/([a-z]+(?:-[a-z]+)*)/[a-z0-9-]+/[0-9]+)(?:/[0-9]+)?\$?$`)

// runFaults runs specs once as they are, and then once for each write that the controller made meanwhile, which is
// struck.
func runFaults(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	binary := flags.String("binary", "", "the compiled conformance test, which `make crash` makes")
	patterns := flags.String("patterns", "", "what is tried at each write if PATTERN says nothing: "+patternList())
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("faults: %w", err)
	}
	c, err := readFaults(*binary, cmp.Or(os.Getenv("PATTERN"), *patterns))
	if err != nil {
		return err
	}
	began := time.Now()
	plan, folder, err := c.plan(ctx)
	if err != nil {
		return err
	}
	outcomes, err := c.strike(ctx, folder, plan.Points)
	if err != nil {
		return fmt.Errorf("%w; what was struck is kept, and %s RESUME=%s goes on", err, c.command(), folder)
	}
	results := faultResults{plan: plan, of: outcomes}
	if results.again, err = c.repeat(ctx, folder, results.red()); err != nil {
		return err
	}
	return results.conclude(folder, time.Since(began))
}

// strike runs points that have not run yet in a folder, and returns the outcomes of all, by ID.
func (c faultsConfig) strike(ctx context.Context, folder string, points []e2e.FaultPoint) (outcomesByID, error) {
	of := outcomesByID{}
	earlier, err := filepath.Glob(filepath.Join(folder, "struck*", "latest"))
	if err != nil {
		return nil, err
	}
	for _, run := range earlier {
		outcomes, err := e2e.Outcomes(run)
		if err != nil {
			return nil, err
		}
		of.add(outcomes)
	}
	left := slices.DeleteFunc(slices.Clone(points), func(p e2e.FaultPoint) bool {
		o, ran := of[p.ID()]
		return ran && o.Verdict != report.Infra
	})
	if len(left) == 0 {
		return of, nil
	}
	step(fmt.Sprintf("striking %d of %d requests", len(left), len(points)))
	outcomes, err := c.runPoints(ctx, folder, fmt.Sprintf("struck-%d", len(earlier)+1), left)
	of.add(outcomes)
	return of, err
}

// repeat runs red points again, to say how often they are.
func (c faultsConfig) repeat(ctx context.Context, folder string, red []e2e.FaultPoint) (outcomesByID, error) {
	if c.repeats > 1 || len(red) == 0 {
		return nil, nil
	}
	if len(red) > mostRepeated {
		step(fmt.Sprintf("%d points are red; only the first %d are repeated", len(red), mostRepeated))
		red = red[:mostRepeated]
	}
	var again []e2e.FaultPoint
	for _, p := range red {
		for p.Try = 1; p.Try <= tries; p.Try++ {
			again = append(again, p)
		}
	}
	step(fmt.Sprintf("striking each of the %d red points %d times more", len(red), tries))
	outcomes, err := c.runPoints(ctx, folder, "again", again)
	of := outcomesByID{}
	of.add(outcomes)
	return of, err
}

const (
	tries        = 10 // how often a red point is repeated
	mostRepeated = 12 // how many red points are repeated
)

// runPoints runs specs with faults, in a folder of its own.
func (c faultsConfig) runPoints(ctx context.Context, folder, name string, points []e2e.FaultPoint,
) ([]report.Outcome, error) {
	file := filepath.Join(folder, name+".json")
	if err := writeJSON(file, points); err != nil {
		return nil, err
	}
	t := trial{
		name: name, provider: c.provider, release: c.Release, gates: os.Getenv("GATES"), procs: os.Getenv("PROCS"),
		out: os.Stderr, test: faultsTest, vars: map[string]string{
			"FAULT_POINTS": file, "FOCUS": "", "PLUMBLINE_RERUN": c.command(),
		},
	}
	return t.run(ctx, c.binary, filepath.Join(folder, name))
}

// readFaults reads the variables, and returns all that is wrong with them.
func readFaults(binary, patterns string) (faultsConfig, error) {
	base, _, err := selected()
	c := faultsConfig{Config: base, binary: binary, provider: providerName(), repeats: 1}
	mistakes := []error{err}
	mistake := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if id := pointID.FindStringSubmatch(os.Getenv("FOCUS")); id != nil {
		c.only, c.Focus, patterns = id[1], regexp.MustCompile("^"+regexp.QuoteMeta(id[2])+"$"), id[3]
	}
	if c.resume = os.Getenv("RESUME"); c.resume != "" {
		mistakes = append(mistakes, checkResumed(c.resume))
	}
	for pattern := range strings.SplitSeq(patterns, ",") {
		if p := faults.Pattern(pattern); slices.Contains(faults.Patterns(), p) {
			c.patterns = append(c.patterns, p)
		} else {
			mistake("PATTERN=%s: there is no pattern %q, only %s", patterns, pattern, patternList())
		}
	}
	if c.request = os.Getenv("REQUEST"); c.request != "" {
		if _, err := faults.ParseKind(c.request); err != nil {
			mistake("REQUEST: %w", err)
		}
	}
	for _, v := range []struct {
		name string
		out  *int
	}{{"NTH", &c.nth}, {"REPEATS", &c.repeats}} {
		if text := os.Getenv(v.name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				mistake("%s=%s: write a number from 1", v.name, text)
			}
			*v.out = n
		}
	}
	if c.nth > 0 && c.request == "" {
		mistake("NTH=%d: of which requests? Write them in REQUEST, such as 'patch nodeclaims.karpenter.sh/status'", c.nth)
	}
	if len(c.chosen()) == 0 {
		mistake("FOCUS=%s: no spec's ID matches; `make list` shows them all", os.Getenv("FOCUS"))
	}
	if _, err := os.Stat(binary); err != nil {
		mistake("the conformance test is missing, run `make crash`: %w", err)
	}
	return c, errors.Join(mistakes...)
}

func patternList() string { return strings.Join(patternNames(faults.Patterns()), ", ") }

func patternNames(all []faults.Pattern) (names []string) {
	for _, p := range all {
		names = append(names, string(p))
	}
	return names
}

// focus returns the pattern of the specs' IDs.
func (c faultsConfig) focus() *regexp.Regexp { return cmp.Or(c.Focus, regexp.MustCompile(scenarios)) }

// chosen returns the IDs of the specs.
func (c faultsConfig) chosen() (ids []string) {
	for _, suite := range suites.All() {
		for _, spec := range suite.Specs() {
			if c.focus().MatchString(spec.ID()) {
				ids = append(ids, spec.ID())
			}
		}
	}
	return ids
}

// pointsOf returns the points of a spec's requests of one kind.
func (c faultsConfig) pointsOf(id, kind string, first, last int) (points []e2e.FaultPoint) {
	for nth := first; nth <= last; nth++ {
		for _, pattern := range c.patterns {
			if !pattern.Strikes(kind) {
				continue
			}
			p := e2e.FaultPoint{Spec: id, Pattern: pattern, Request: kind, Nth: nth}
			if c.repeats == 1 {
				points = append(points, p)
				continue
			}
			for p.Try = 1; p.Try <= c.repeats; p.Try++ {
				points = append(points, p)
			}
		}
	}
	return points
}
