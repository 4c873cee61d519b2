package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/explore/draw"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// exploration makes up sequences, plays them, and shrinks those that break something.
type exploration struct {
	e2e.Config
	adapter  *providers.Adapter
	binary   string
	provider string
	length   time.Duration // FOR
	replay   string        // REPLAY: the file of a sequence that is played instead; empty: none
	repeats  int           // REPEATS: how often it is played
	lies     []lie         // LIE: those of the faulty provider that are to be found; nil: it isn't set
	sample   int           // N: how many of them; 0: all
	folder   string

	domain  draw.Domain
	seed    int // SEED
	began   time.Time
	earlier time.Duration // that earlier runs took, of an exploration that goes on

	mu        sync.Mutex
	next      int             // seed
	played    []played        // those of earlier runs among them
	seen      map[string]bool // transitions
	features  map[string]bool
	histories map[string]bool // that differ in their transitions
	new       [][]string      // the features of sequences that led somewhere new
	found     []*found
}

// played is a line of the file that says what was played.
type played struct {
	Seed        int            `json:"seed"`
	Verdict     report.Verdict `json:"verdict"`
	Features    []string       `json:"features"`
	Transitions []string       `json:"transitions,omitempty"` // that no sequence before had
	History     string         `json:"history,omitempty"`     // tells histories with other transitions apart
	Broke       string         `json:"broke,omitempty"`       // the first thing that did
	Issue       string         `json:"issue,omitempty"`       // known: the addresses of issues and findings
}

// Files in the folder of an exploration.
const (
	domainFile = "domain.yaml"
	learntFile = "learnt.jsonl.gz" // the recording that showed the domain
	playedFile = "played.jsonl"
)

// explorationLength is how long an exploration takes by default.
const explorationLength = 10 * time.Minute

func runExplore(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("explore", flag.ContinueOnError)
	binary := flags.String("binary", "", "the compiled conformance test, which `make explore` makes")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	x, err := readExploration(*binary)
	if err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	if x.replay != "" {
		return x.playAgain(ctx)
	}
	if err := x.learn(ctx); err != nil {
		return err
	}
	if x.lies != nil {
		return x.hunt(ctx)
	}
	err = x.explore(ctx)
	if ctx.Err() != nil { // what was found is kept
		return errors.Join(x.conclude(), fmt.Errorf("interrupted; make explore RESUME=%s goes on", x.folder))
	}
	return cmp.Or(err, x.conclude())
}

// readExploration reads the variables, and returns all that is wrong with them.
func readExploration(binary string) (*exploration, error) {
	base, adapter, err := selected()
	x := &exploration{
		Config: base, adapter: adapter, binary: binary, provider: providerName(), length: explorationLength, seed: 1,
		repeats: 1, seen: map[string]bool{}, features: map[string]bool{}, histories: map[string]bool{}, began: time.Now(),
	}
	mistakes := []error{err, x.readLies()}
	x.adapter = x.Gated(x.adapter)
	mistake := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if text := os.Getenv("FOR"); text != "" {
		if x.length, err = time.ParseDuration(text); err != nil || x.length <= 0 {
			mistake("FOR=%s: write a duration such as 30m", text)
		}
	}
	for _, v := range []struct {
		name string
		out  *int
	}{{"SEED", &x.seed}, {"REPEATS", &x.repeats}, {"N", &x.sample}} {
		if text := os.Getenv(v.name); text != "" {
			if *v.out, err = strconv.Atoi(text); err != nil || *v.out < 1 {
				mistake("%s=%s: write a whole number from 1", v.name, text)
			}
		}
	}
	x.lies = x.drawLies()
	if x.sample > 0 && os.Getenv("LIE") == "" {
		mistake("N=%d: that is how many lies are to be found, of those of LIE", x.sample)
	}
	mistakes = append(mistakes, x.readReplay(), x.readResume(), x.lacksPools())
	for _, name := range []string{"FOCUS", "SKIP", "LABELS"} {
		if v := os.Getenv(name); v != "" {
			mistake("%s=%s: sequences are no specs; SEED and REPLAY choose them", name, v)
		}
	}
	if _, err := os.Stat(binary); err != nil {
		mistake("the conformance test is missing, run `make explore`: %w", err)
	}
	x.next = x.seed
	return x, errors.Join(mistakes...)
}

// lacksPools returns why no sequences can be drawn for the provider: all of them have NodePools.
func (x *exploration) lacksPools() error {
	valid := x.adapter.Validate() == nil // or else it has been said what is wrong with it
	if can, why := x.adapter.Supports(providers.NodePools); valid && !can && x.replay == "" {
		return fmt.Errorf("PROVIDER=%s: sequences are about NodePools, and %s; REPLAY plays one without them",
			x.provider, why)
	}
	return nil
}

// readReplay reads which sequence is played instead of others. The error has all that is wrong with it, and the
// variables that would have no effect.
func (x *exploration) readReplay() (err error) {
	x.replay = os.Getenv("REPLAY")
	idle, why := []string{"REPEATS"}, "that is for REPLAY"
	if x.replay != "" {
		q, err2 := explore.Read(x.replay)
		if lacks := q.CheckFor(x.adapter); err2 == nil && lacks != nil {
			err2 = fmt.Errorf("REPLAY=%s can't be played:\n%w", x.replay, lacks)
		}
		err = err2
		idle, why = []string{"FOR", "SEED", "SHARD", "RESUME"}, "REPLAY plays one sequence"
	}
	for _, name := range idle {
		if v := os.Getenv(name); v != "" {
			err = errors.Join(err, fmt.Errorf("%s=%s: %s", name, v, why))
		}
	}
	return err
}

// readResume reads which exploration goes on. The error says why it can't: what another provider or release has shown
// is not known of this one.
func (x *exploration) readResume() error {
	x.folder = os.Getenv("RESUME")
	if x.folder == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(x.folder, domainFile)); err != nil {
		return fmt.Errorf("RESUME=%s: it is no folder of an exploration: %w", x.folder, err)
	}
	before, err := x.before()
	if err == nil && before.Provider != "" && (before.Provider != x.provider || before.Release != x.release()) {
		err = fmt.Errorf("RESUME=%s: it is an exploration of %s %s, not of %s %s", x.folder, before.Provider, before.Release,
			x.provider, x.release())
	}
	return err
}

// open makes the folder of the exploration, or reads what is in that of the one that goes on.
func (x *exploration) open() (err error) {
	if x.folder == "" {
		x.folder, err = e2e.NewRunFolder(filepath.Join(x.Artifacts, "explore"))
		step("artifacts in " + x.folder)
		return errors.Join(err, x.writeExplored(false))
	}
	before, err := x.before()
	if err != nil {
		return err
	}
	x.earlier = before.Took
	return errors.Join(x.readPlayed(), x.readFound(), x.writeExplored(false))
}

// took returns how long the exploration has taken, in all its runs.
func (x *exploration) took() time.Duration { return x.earlier + time.Since(x.began) }

// readPlayed reads what the run that goes on has played.
func (x *exploration) readPlayed() error {
	return readLines(filepath.Join(x.folder, playedFile), func(p played) {
		x.count(p)
		x.next = max(x.next, p.Seed+1)
	})
}

// server returns what plays the sequences of a worker.
func (x *exploration) server(worker int) *server {
	recording := filepath.Join(x.folder, learntFile)
	if _, err := os.Stat(recording); err != nil {
		recording = ""
	}
	return &server{
		recording: recording,
		binary:    x.binary, folder: filepath.Join(x.folder, "workers", strconv.Itoa(worker)),
		trial: trial{
			provider: x.provider, release: x.Release, gates: gatesVariable(x.Gates), procs: "1",
			vars: map[string]string{"FAILFAST": ""},
		},
	}
}

// outcome is what came of a sequence.
type outcome struct {
	report.Outcome
	core    string           // the release of Karpenter core
	unknown explore.Sequence // without the actions that give it what is known to fail
}

// play plays a sequence.
func (x *exploration) play(ctx context.Context, s *server, sequence explore.Sequence) (o outcome, err error) {
	a, err := s.try(ctx, e2e.Trial{Sequence: &sequence})
	if err != nil {
		return o, err
	}
	if len(a.Outcomes) == 0 || a.Unknown == nil {
		return o, fmt.Errorf("nothing came of %s; see %s", sequence.Name, s.folder)
	}
	return outcome{Outcome: a.Outcomes[0], core: a.Karpenter, unknown: *a.Unknown}, nil
}

// learn finds the domain of the provider by sequences that show it.
func (x *exploration) learn(ctx context.Context) error {
	if err := x.readDomain(); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	step("learning the zones and instance types of " + x.adapter.Name + ", and what the API server refuses")
	s := x.server(0)
	defer s.end()
	o, err := x.play(ctx, s, draw.Learn())
	if err != nil {
		return err
	}
	if o.Verdict.Red() {
		return fmt.Errorf("%s launches no nodes: %s", x.adapter.Name, o.Reason)
	}
	learnt := o.History
	h, err := history.LoadFile(learnt)
	if err != nil {
		return err
	}
	domain := draw.DomainOf(x.adapter, o.core, o.Writes, h)
	if o, err = x.play(ctx, s, draw.TryFeatures(domain)); err != nil {
		return err
	}
	if o.Verdict == report.Infra { // if it broke an invariant, others will
		return fmt.Errorf("it can't be told what the API server refuses: %s", o.Reason)
	}
	x.domain = domain.WithoutRefused(o.Note)
	return errors.Join(os.Link(learnt, filepath.Join(x.folder, learntFile)), x.writeDomain())
}

// readDomain reads what an earlier run has learnt. The error is os.ErrNotExist if there was none.
func (x *exploration) readDomain() error {
	data, err := os.ReadFile(filepath.Join(x.folder, domainFile))
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, &x.domain)
}

func (x *exploration) writeDomain() error {
	data, err := yaml.Marshal(x.domain)
	if err != nil {
		return err
	}
	//nolint:gosec // artifacts are for everybody
	return os.WriteFile(filepath.Join(x.folder, domainFile), data, 0o644)
}

// explore plays sequences on all workers until the time is over.
func (x *exploration) explore(ctx context.Context) error {
	file, err := os.OpenFile(filepath.Join(x.folder, playedFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	step(fmt.Sprintf("exploring for %s from seed %d, of %d features, %d clusters at a time", x.length, x.next,
		len(draw.Features(x.domain)), x.Procs))
	group, within := errgroup.WithContext(ctx)
	for worker := range x.Procs {
		group.Go(func() error {
			s := x.server(worker + 1)
			defer s.end()
			for time.Since(x.began) < x.length && within.Err() == nil {
				sequence := x.draw()
				o, err := x.play(within, s, sequence)
				if err == nil {
					err = x.judge(within, s, sequence, o, file)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// draw draws the next sequence. Every second one has about the features of one that led somewhere new.
func (x *exploration) draw() explore.Sequence {
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.Shard.Has(x.next) {
		x.next++
	}
	seed := x.next
	x.next++
	var features []string
	if len(x.new) > 0 && seed/max(1, x.Shard.Of)%2 == 0 {
		features = x.nearlyNew(rand.New(rand.NewPCG(uint64(seed), 0))) //nolint:gosec // it is a seed
	}
	return x.made(draw.Draw(seed, x.domain, features))
}

// made notes what a sequence is made for.
func (x *exploration) made(q explore.Sequence) explore.Sequence {
	q.Provider, q.Release = x.adapter.Name, x.release()
	return q
}

// release returns the release of the provider that is explored.
func (x *exploration) release() string {
	if x.Release == "" && x.adapter != nil { // whoever joins parts has no adapter
		return x.adapter.Source.Version
	}
	return x.Release
}

// featuresChanged is how many features differ from those of a sequence that led somewhere new.
const featuresChanged = 4

// nearlyNew returns features that are nearly those of a sequence that led somewhere new.
func (x *exploration) nearlyNew(r *rand.Rand) []string {
	features := slices.Clone(x.new[r.IntN(len(x.new))])
	all := draw.Features(x.domain)
	for range featuresChanged {
		f := all[r.IntN(len(all))]
		if i := slices.Index(features, f); i >= 0 {
			features = slices.Delete(features, i, i+1)
		} else {
			features = append(features, f)
		}
	}
	return features
}

// judge records what came of a sequence, and looks into what broke.
func (x *exploration) judge(ctx context.Context, s *server, q explore.Sequence, o outcome, file *os.File) error {
	p := played{Seed: q.Seed, Verdict: o.Verdict, Features: q.Features, Issue: o.Issue}
	if h, err := history.LoadFile(o.History); err == nil {
		p.Transitions = explore.Transitions(h)
		p.History = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(p.Transitions, "\n"))))[:16]
	}
	if len(o.Broke) > 0 {
		p.Broke = signature(o.Broke[0])
	}
	x.mu.Lock()
	p = x.judged(p)
	x.tell(q, o.Outcome, len(p.Transitions))
	line, err := json.Marshal(p)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	x.mu.Unlock()
	if err != nil {
		return err
	}
	return x.look(ctx, s, q, o)
}

// judged counts what was played, and returns it with only those of its transitions that no sequence before had.
func (x *exploration) judged(p played) played {
	p.Transitions = slices.DeleteFunc(p.Transitions, func(t string) bool { return x.seen[t] })
	x.count(p)
	return p
}

// count adds what was played to what was seen.
func (x *exploration) count(p played) {
	x.played = append(x.played, p)
	for _, t := range p.Transitions {
		x.seen[t] = true
	}
	for _, f := range p.Features {
		x.features[f] = true
	}
	if p.History != "" {
		x.histories[p.History] = true
	}
	if len(p.Transitions) > 0 {
		x.new = append(x.new, p.Features)
	}
}

// tell prints what came of a sequence, and how far the exploration is.
func (x *exploration) tell(q explore.Sequence, o report.Outcome, fresh int) {
	fmt.Fprintf(os.Stdout, "%s %s: %d actions in %.1f s%s  (%d new transitions; %s; %s left)\n", mark(!o.Verdict.Red()),
		q.Name, len(q.Actions), o.Wall().Seconds(), brokeShort(o), fresh, x.progress(),
		max(0, x.length-time.Since(x.began)).Round(time.Second))
}

// progress says how much was played, and how much of what there can be was seen.
func (x *exploration) progress() string {
	took := x.took()
	return fmt.Sprintf("%d sequences in %s, %.1f a minute, of %d of %d features; %d different histories, %d transitions",
		len(x.played), took.Round(time.Second), float64(len(x.played))/took.Minutes(), len(x.features),
		len(draw.Features(x.domain)), len(x.histories), len(x.seen))
}

func brokeShort(o report.Outcome) string {
	if !o.Verdict.Red() {
		return ""
	}
	return fmt.Sprintf(", %s: %s", o.Verdict, short(o.Reason))
}
