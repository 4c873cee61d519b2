package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
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
	shard            shard  // SHARD=2/4: this part of all
	only             string // the ID of one point, from FOCUS; empty: FOCUS chooses specs
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
	folder, err := e2e.NewRunFolder(filepath.Join(c.Artifacts, "faults"))
	if err != nil {
		return err
	}
	step("artifacts in " + folder)
	began := time.Now()
	points, err := c.points(ctx, folder)
	if err != nil {
		return err
	}
	step(fmt.Sprintf("striking %d requests", len(points)))
	file := filepath.Join(folder, "points.json")
	data, err := json.MarshalIndent(points, "", "  ")
	if err == nil {
		err = os.WriteFile(file, data, 0o644) //nolint:gosec // artifacts are for everybody
	}
	if err != nil {
		return err
	}
	t := c.trial("struck")
	t.test, t.vars = faultsTest, map[string]string{
		"FAULT_POINTS": file, "FOCUS": "", "PLUMBLINE_RERUN": c.command("crash"),
	}
	outcomes, err := t.run(ctx, c.binary, filepath.Join(folder, t.name))
	if err != nil {
		return err
	}
	return c.conclude(folder, points, outcomes, time.Since(began))
}

// readFaults reads the variables, and returns all that is wrong with them.
func readFaults(binary, patterns string) (faultsConfig, error) {
	base, _, err := selected()
	c := faultsConfig{Config: base, binary: binary, provider: providerName(), repeats: 1}
	var badShard error
	c.shard, badShard = readShard()
	mistakes := []error{err, badShard}
	mistake := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if id := pointID.FindStringSubmatch(os.Getenv("FOCUS")); id != nil {
		c.only, c.Focus, patterns = id[1], regexp.MustCompile("^"+regexp.QuoteMeta(id[2])+"$"), id[3]
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

func patternList() string {
	var names []string
	for _, p := range faults.Patterns() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
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

// trial returns a run with the user's provider that shows its progress.
func (c faultsConfig) trial(name string) trial {
	return trial{
		name: name, provider: c.provider, release: c.Release, gates: os.Getenv("GATES"), procs: os.Getenv("PROCS"),
		out: os.Stderr,
	}
}

// points returns what is to be struck. It learns from an honest run how many requests there are.
func (c faultsConfig) points(ctx context.Context, folder string) ([]e2e.FaultPoint, error) {
	if c.nth > 0 {
		var points []e2e.FaultPoint
		for _, id := range c.chosen() {
			points = append(points, c.pointsOf(id, c.request, c.nth, c.nth)...)
		}
		return part(c.shard, points), nil
	}
	step("learning from a run without faults what the controller writes")
	t := c.trial("honest")
	t.vars = map[string]string{"FOCUS": c.focus().String(), "PLUMBLINE_RERUN": c.command("e2e")}
	outcomes, err := t.run(ctx, c.binary, filepath.Join(folder, t.name))
	if err != nil {
		return nil, err
	}
	var points []e2e.FaultPoint
	for _, o := range outcomes {
		if o.Verdict != report.Passed {
			step(fmt.Sprintf("%s is left out: without a fault it is %s: %s", o.ID, o.Verdict, firstLine(o.Reason)))
			continue
		}
		for _, kind := range slices.Sorted(maps.Keys(o.Writes)) {
			if c.request == "" || c.request == kind {
				points = append(points, c.pointsOf(o.ID, kind, 1, o.Writes[kind])...)
			}
		}
	}
	if len(points) == 0 {
		return nil, errors.New("there is nothing to strike: no spec passed without faults, or the controller wrote none " +
			"of what FOCUS and REQUEST choose; only the local backend counts writes")
	}
	return part(c.shard, slices.DeleteFunc(points, func(p e2e.FaultPoint) bool {
		p.Try = 0
		return c.only != "" && p.ID() != c.only
	})), nil
}

// pointsOf returns the points of a spec's requests of one kind.
func (c faultsConfig) pointsOf(id, kind string, first, last int) (points []e2e.FaultPoint) {
	for nth := first; nth <= last; nth++ {
		for _, pattern := range c.patterns {
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
