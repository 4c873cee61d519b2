package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/explore/draw"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// lieHunt measures which lies exploration finds, without any spec's claims. First the honest provider plays the
// sequences of some seeds. Then all lies play them, those that lead to most that is new in a second first, until they
// are found. What the honest provider breaks too finds no lie.
//
// Most sequences show nothing of most lies. So several lies are told at a time, about as many as let every second
// sequence break something. Then halves of them tell it again, down to single ones: only what a lie breaks when it is
// told alone finds it.
type lieHunt struct {
	*exploration
	lies []lie

	servers  []*server // of the workers
	together int       // how many lies are told at a time

	mu     sync.Mutex
	log    *os.File
	rounds []lieRound
}

// lieRound is what came of a sequence with lies. It is a line of liesPlayedFile.
type lieRound struct {
	// Lie is a list of names, separated by commas: those that were told at a time. Empty: the honest provider.
	Lie   string   `json:"lie"`
	Seed  int      `json:"seed"`
	Broke []string `json:"broke,omitempty"` // signatures
	Infra string   `json:"infra,omitempty"` // why it says nothing
	// Transitions are those of the honest provider, and Took how long it played in real time.
	Transitions []string      `json:"transitions,omitempty"`
	Took        time.Duration `json:"took,omitempty"`
	After       time.Duration `json:"after"` // since the exploration began, in all its runs
}

// lies returns the names of the lies that were told; none: the provider was honest.
func (r lieRound) lies() []string {
	return strings.FieldsFunc(r.Lie, func(c rune) bool { return c == ',' })
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
	h, lies := &lieHunt{exploration: x, lies: x.lies, together: firstTogether}, x.lies
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
	var honest []func(context.Context, *server) error
	for seed := first; seed < first+honestFirst; seed++ {
		honest = append(honest, func(ctx context.Context, s *server) error {
			_, err := h.shows(ctx, s, seed, nil)
			return err
		})
	}
	err := h.onAll(ctx, honest)
	for _, seed := range h.newestFirst(first) {
		if err != nil || !h.goesOn() {
			break
		}
		var searches []func(context.Context, *server) error
		before := h.due(seed)
		if len(before) == 0 {
			continue
		}
		for group := range slices.Chunk(before, h.together) {
			searches = append(searches, func(ctx context.Context, s *server) error {
				_, err := h.search(ctx, s, seed, group, false)
				return err
			})
		}
		err = h.onAll(ctx, searches)
		h.together = togetherNext(len(before), sets.New(before...).Delete(h.left()...).Len())
	}
	return err
}

// How many lies are told at a time: at first, and at most, since they hide each other.
const firstTogether, mostTogether = 3, 12

// togetherNext returns how many lies are told at a time, so that about half of the sequences break something if half
// as many of them are found as were found of those that were tried last: what is left is harder to find.
func togetherNext(tried, found int) int {
	return min(mostTogether, max(1, int(math.Round(math.Ln2*float64(2*tried)/max(1, float64(found))))))
}

// search looks for a sequence's lies among some, and reports whether there are any. The caller may know that there are.
func (h *lieHunt) search(ctx context.Context, s *server, seed int, lies []string, known bool) (any bool, err error) {
	if any = true; !known || len(lies) == 1 {
		any, err = h.shows(ctx, s, seed, lies)
	}
	if err != nil || !any || len(lies) == 1 {
		return any, err
	}
	half := len(lies) / 2
	inFirst, err := h.search(ctx, s, seed, lies[:half], false)
	if err != nil {
		return any, err
	}
	_, err = h.search(ctx, s, seed, lies[half:], !inFirst)
	return any, err
}

// newestFirst returns the seeds of a block in the order in which the honest provider shows most that is new: the next
// one has most transitions a second that those before it have not. Seeds that break something by themselves come last,
// since what they break finds no lie. Those that say nothing come not at all. Neither does the slower half of them: in
// the time of one, two others find more.
func (h *lieHunt) newestFirst(first int) (seeds []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var left []lieRound
	for _, r := range h.rounds {
		if r.Lie == "" && r.Infra == "" && r.Seed >= first && r.Seed < first+honestFirst {
			left = append(left, r)
		}
	}
	slices.SortStableFunc(left, func(a, b lieRound) int { return cmp.Compare(a.Took, b.Took) })
	left = left[:(len(left)+1)/2]
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

// onAll shares work among all workers, until the time is over.
func (h *lieHunt) onAll(ctx context.Context, work []func(context.Context, *server) error) error {
	group, within := errgroup.WithContext(ctx)
	queue := make(chan func(context.Context, *server) error, len(work))
	for _, each := range work {
		queue <- each
	}
	close(queue)
	for _, s := range h.servers {
		group.Go(func() error {
			for each := range queue {
				if within.Err() != nil {
					return context.Cause(within)
				}
				// Not within: the server's process outlives this.
				if err := each(ctx, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// shows reports whether a sequence breaks something with lies that it doesn't break with the honest provider. It is
// played unless it was before, or the time is over.
func (h *lieHunt) shows(ctx context.Context, s *server, seed int, lies []string) (bool, error) {
	r := lieRound{Lie: strings.Join(lies, ","), Seed: seed}
	if before := h.played(r); before != nil {
		return len(h.onlyWith(*before)) > 0, nil
	}
	if time.Since(h.began) > h.length {
		return false, nil
	}
	if err := h.play(ctx, s, &r); err != nil {
		return false, err
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
	return len(h.onlyWith(r)) > 0, err
}

// play plays a round's sequence with its lies.
func (h *lieHunt) play(ctx context.Context, s *server, r *lieRound) error {
	q, lies := draw.Draw(r.Seed, h.domain, nil), r.lies()
	q.Name = strings.Join(append([]string{q.Name}, lies[:min(1, len(lies))]...), "-")
	if len(lies) > 1 {
		q.Name += fmt.Sprintf("-and-%d", len(lies)-1)
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
	if slices.ContainsFunc(lies, h.stays) {
		s.end()
	}
	return nil
}

// stays reports whether a lie changes what stays in the cluster.
func (h *lieHunt) stays(name string) bool {
	return slices.ContainsFunc(h.lies, func(l lie) bool {
		return l.Name == name && l.Level != "core" && l.Level != "cloud"
	})
}

// played returns what came of a sequence with lies, or nil: it wasn't played.
func (h *lieHunt) played(want lieRound) *lieRound {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rounds {
		if r.Lie == want.Lie && r.Seed == want.Seed {
			return &r
		}
	}
	return nil
}

// left returns the names of the lies that have not been found. Those that change what stays in the cluster are
// together, as each group of them needs a new one.
func (h *lieHunt) left() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var staying []string
	for _, l := range h.lies {
		switch {
		case h.finding(l.Name) != nil:
		case h.stays(l.Name):
			staying = append(staying, l.Name)
		default:
			names = append(names, l.Name)
		}
	}
	return append(names, staying...)
}

// due returns those of the lies that are left that a sequence has not shown to break nothing.
func (h *lieHunt) due(seed int) []string {
	left := h.left()
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(left, func(name string) bool {
		return slices.ContainsFunc(h.rounds, func(r lieRound) bool {
			told := slices.Contains(r.lies(), name)
			return r.Seed == seed && (r.Lie == name || told && len(h.onlyWith(r)) == 0)
		})
	})
}

// finding returns the first sequence that finds a lie, or nil: one that breaks with it alone what it doesn't break with
// the honest provider.
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
	name, several := r.Lie, len(r.lies())
	switch {
	case name == "":
		name = "honest"
	case several > 1:
		name = check.Words(several, "lies")
		what = strings.Replace(what, "found: ", "one of them or more: ", 1)
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
		for _, name := range r.lies() {
			tries[name]++
		}
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
