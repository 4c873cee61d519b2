package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/explore/draw"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// lieHunt measures which lies exploration finds, without any spec's claims. First the honest provider plays the
// sequences of some seeds. Then all lies play them, those that lead to most that is new in a second first, until they
// are found. What the honest provider breaks too finds no lie.
type lieHunt struct {
	*exploration
	lies []lie

	servers []*server // of the workers

	mu     sync.Mutex
	log    *os.File
	rounds []lieRound
}

// lieRound is what came of a sequence with a lie. It is a line of liesPlayedFile.
type lieRound struct {
	Lie   string   `json:"lie"` // empty: the honest provider
	Seed  int      `json:"seed"`
	Broke []string `json:"broke,omitempty"` // signatures
	Infra string   `json:"infra,omitempty"` // why it says nothing
	// Transitions are those of the honest provider, and Took how long it played in real time.
	Transitions []string      `json:"transitions,omitempty"`
	Took        time.Duration `json:"took,omitempty"`
	After       time.Duration `json:"after"` // since the exploration began, in all its runs
}

// liesPlayedFile says what was played, in the folder of an exploration.
const liesPlayedFile = "lies.jsonl"

// controllerStays says that the controller doesn't start with a lie, which finds it.
const controllerStays = "the controller doesn't start"

// readLies reads which lies LIE chooses, of those that the faulty provider tells by itself, and makes it the provider.
func (x *exploration) readLies() error {
	list := os.Getenv("LIE")
	if list == "" {
		return nil
	}
	all, err := loadLies(filepath.Join(faulty, "lies"), allSuites())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(l lie) bool {
		return l.Karpenter != "" || l.elsewhere()
	})
	if x.lies = all; list != allLies {
		x.lies, err = choose(all, list)
	}
	for _, name := range []string{"PROVIDER", "KARPENTER", "REPLAY", "SHARD"} {
		if v := os.Getenv(name); v != "" {
			err = errors.Join(err, fmt.Errorf("%s=%s: with LIE, all sequences are played against the faulty provider", name, v))
		}
	}
	x.provider = filepath.Join(faulty, "adapter.yaml")
	x.adapter = providers.Named(x.provider)
	gates := gatesNeeded(x.lies)
	maps.Copy(gates, x.Gates)
	x.Gates = gates
	return errors.Join(err, x.adapter.Validate())
}

// drawLies returns the sample of the lies: the same for the same seed and lies.
func (x *exploration) drawLies() []lie {
	if x.sample < 1 || x.sample >= len(x.lies) {
		return x.lies
	}
	return shuffled(x.lies, uint64(x.seed))[:x.sample] //nolint:gosec // it is 1 or more
}

// allLies is the value of LIE that chooses all.
const allLies = "all"

// hunt plays sequences with each lie until all are found or the time is over.
func (x *exploration) hunt(ctx context.Context) error {
	h, lies := &lieHunt{exploration: x, lies: x.lies}, x.lies
	file := filepath.Join(x.folder, liesPlayedFile)
	if err := readLines(file, func(r lieRound) { h.rounds = append(h.rounds, r) }); err != nil {
		return err
	}
	if n := len(h.rounds); n > 0 {
		h.earlier = h.rounds[n-1].After
	}
	var err error
	if h.log, err = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	defer h.log.Close()
	for worker := range x.Procs {
		h.servers = append(h.servers, x.server(worker+1))
		defer h.servers[worker].end()
	}
	step(fmt.Sprintf("%d lies, for %s, %d clusters at a time", len(lies), x.length, x.Procs))
	for first := x.next; h.goesOn() && err == nil; first += honestFirst {
		err = h.block(ctx, first)
	}
	text, readme := h.text(), filepath.Join(x.folder, "README.md")
	fmt.Fprintf(os.Stdout, "\n%s\n%s\n", text, readme)
	return errors.Join(err, os.WriteFile(readme, []byte(text), 0o644)) //nolint:gosec // artifacts are for everybody
}

// honestFirst is how many sequences the honest provider plays before the lies do.
const honestFirst = 12

// goesOn reports whether there are lies to be found, and time is left.
func (h *lieHunt) goesOn() bool { return time.Since(h.began) < h.length && len(h.left()) > 0 }

// block plays the sequences of some seeds, first with the honest provider, and then with all lies that are left.
func (h *lieHunt) block(ctx context.Context, first int) error {
	var honest []lieRound
	for seed := first; seed < first+honestFirst; seed++ {
		honest = append(honest, lieRound{Seed: seed})
	}
	err := h.playAll(ctx, honest)
	for _, seed := range h.newestFirst(first) {
		if err != nil || !h.goesOn() {
			break
		}
		var lying []lieRound
		for _, name := range h.left() {
			lying = append(lying, lieRound{Lie: name, Seed: seed})
		}
		err = h.playAll(ctx, lying)
	}
	return err
}

// newestFirst returns the seeds of a block in the order in which the honest provider shows most that is new: the next
// one has most transitions a second that those before it have not. Seeds that break something by themselves come last,
// since what they break finds no lie. Those that say nothing come not at all.
func (h *lieHunt) newestFirst(first int) (seeds []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var left []lieRound
	for _, r := range h.rounds {
		if r.Lie == "" && r.Infra == "" && r.Seed >= first && r.Seed < first+honestFirst {
			left = append(left, r)
		}
	}
	seen := sets.New[string]()
	for len(left) > 0 {
		worth := func(r lieRound) float64 {
			return float64(len(sets.New(r.Transitions...).Difference(seen))) / max(1, r.Took.Seconds())
		}
		best := slices.MaxFunc(left, func(a, b lieRound) int {
			return cmp.Or(cmp.Compare(min(1, len(b.Broke)), min(1, len(a.Broke))), cmp.Compare(worth(a), worth(b)),
				cmp.Compare(b.Seed, a.Seed))
		})
		seeds = append(seeds, best.Seed)
		seen.Insert(best.Transitions...)
		left = slices.DeleteFunc(left, func(r lieRound) bool { return r.Seed == best.Seed })
	}
	return seeds
}

// playAll plays sequences with lies, on all workers, until the time is over. What was played is left out.
func (h *lieHunt) playAll(ctx context.Context, rounds []lieRound) error {
	queue := make(chan lieRound)
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(queue)
		for _, r := range rounds {
			if h.played(r) {
				continue
			}
			if time.Since(h.began) > h.length {
				return nil
			}
			select {
			case queue <- r:
			case <-within.Done():
				return context.Cause(within)
			}
		}
		return nil
	})
	for worker := range h.Procs {
		group.Go(func() error {
			for r := range queue {
				// Not within: the server's process outlives this.
				if err := h.try(ctx, h.servers[worker], r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// try plays a sequence with a lie.
func (h *lieHunt) try(ctx context.Context, s *server, r lieRound) error {
	q := draw.Draw(r.Seed, h.domain, nil)
	if r.Lie != "" {
		q.Name += "-" + r.Lie
	}
	a, err := s.try(ctx, e2e.Trial{Sequence: &q, Variables: map[string]string{"LIE": r.Lie}})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case err != nil: // the process ended; the next one is new
		r.Infra = err.Error()
	case len(a.Outcomes) == 0:
		r.Infra = "nothing came of it"
	case e2e.ConfigurationFailed(a.Outcomes[0]):
		r.Broke = []string{controllerStays}
	case a.Outcomes[0].Verdict == report.Infra:
		r.Infra = firstLine(a.Outcomes[0].Reason)
	case a.Outcomes[0].Verdict == report.Failed:
		for _, b := range a.Outcomes[0].Broke {
			r.Broke = append(r.Broke, signature(b))
		}
	}
	if r.Lie == "" && r.Infra == "" {
		if recording, err := history.LoadFile(a.Outcomes[0].History); err == nil {
			r.Transitions, r.Took = explore.Transitions(recording), a.Outcomes[0].Wall()
		}
	}
	if l := h.lie(r.Lie); l != nil && l.Level != "core" && l.Level != "cloud" {
		s.end() // such lies change what stays in the cluster
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.After = h.took()
	h.rounds = append(h.rounds, r)
	h.tell(r)
	line, err := json.Marshal(r)
	if err == nil {
		_, err = h.log.Write(append(line, '\n'))
	}
	return err
}

func (h *lieHunt) lie(name string) *lie {
	for i := range h.lies {
		if h.lies[i].Name == name {
			return &h.lies[i]
		}
	}
	return nil
}

func (h *lieHunt) played(want lieRound) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.rounds, func(r lieRound) bool { return r.Lie == want.Lie && r.Seed == want.Seed })
}

// left returns the names of the lies that have not been found.
func (h *lieHunt) left() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lies {
		if h.finding(l.Name) == nil {
			names = append(names, l.Name)
		}
	}
	return names
}

// finding returns the first sequence that finds a lie, or nil: one that breaks what it doesn't break with the honest
// provider.
func (h *lieHunt) finding(name string) *lieRound {
	for i, r := range h.rounds {
		if r.Lie == name && len(h.onlyWith(r)) > 0 {
			return &h.rounds[i]
		}
	}
	return nil
}

// onlyWith returns what a sequence breaks with a lie, and not with the honest provider.
func (h *lieHunt) onlyWith(r lieRound) []string {
	return slices.DeleteFunc(slices.Clone(r.Broke), func(what string) bool {
		return slices.ContainsFunc(h.rounds, func(other lieRound) bool {
			return other.Lie == "" && other.Seed == r.Seed && slices.Contains(other.Broke, what)
		})
	})
}

// tell prints what came of a sequence.
func (h *lieHunt) tell(r lieRound) {
	found := 0
	for _, l := range h.lies {
		if h.finding(l.Name) != nil {
			found++
		}
	}
	what, broke := "–", h.onlyWith(r)
	switch {
	case r.Infra != "":
		what = "! " + r.Infra
	case r.Lie == "" && len(r.Broke) > 0:
		what = "✗ the honest provider breaks: " + r.Broke[0]
	case r.Lie != "" && len(broke) > 0:
		what = "found: " + broke[0]
	}
	name := r.Lie
	if name == "" {
		name = "honest"
	}
	fmt.Fprintf(os.Stdout, "seed %d, %s: %s  (%d of %d lies found; %s left)\n", r.Seed, name, short(what), found,
		len(h.lies), max(0, h.length-time.Since(h.began)).Round(time.Second))
}

// text says which lies were found, as Markdown.
func (h *lieHunt) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found, missed []string
	tries, infra := map[string]int{}, 0
	for _, r := range h.rounds {
		tries[r.Lie]++
		if r.Infra != "" {
			infra++
		}
	}
	for _, l := range h.lies {
		if r := h.finding(l.Name); r != nil {
			found = append(found, fmt.Sprintf("| %s | %s | %d | %s | %s |", l.Name, l.Level, r.Seed,
				r.After.Round(time.Second), h.onlyWith(*r)[0]))
		} else {
			missed = append(missed, fmt.Sprintf("| %s | %s | %d | %s | %s |", l.Name, l.Level, tries[l.Name], l.Lie,
				strings.Join(l.Specs, " ")))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Lies found by exploration alone\n\n%d of %d in %s, by %d sequences; %d of them say nothing.\n",
		len(found), len(h.lies), h.took().Round(time.Second), len(h.rounds), infra)
	fmt.Fprintf(&b, "\n| Lie | Level | Seed | After | It broke |\n|---|---|---|---|---|\n%s\n", strings.Join(found, "\n"))
	fmt.Fprintf(&b, "\n| Not found | Level | Sequences | What it does | Specs that find it |\n|---|---|---|---|---|\n%s\n",
		strings.Join(missed, "\n"))
	return b.String()
}

// gatesNeeded returns all gates that lies need.
func gatesNeeded(lies []lie) map[string]bool {
	all := map[string]bool{}
	for _, l := range lies {
		for gate, on := range l.Gates {
			all[gate] = all[gate] || on
		}
	}
	return all
}
