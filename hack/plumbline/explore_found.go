package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/explore/write"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// found is something that a sequence breaks, for a reason of its own.
type found struct {
	Number    int
	Signature string           // what broke, without names
	With      []string         // what else its sequence breaks, which has the same cause
	Command   string           // that plays sequences with the same provider
	Outcome   report.Outcome   // of the shortest sequence, or of the first if it never broke again
	Original  explore.Sequence // that broke it first
	Shortest  explore.Sequence
	Missed    int           // how often the first sequence was played again, and broke nothing of it
	Tries     int           // sequences that were played to shrink it
	Took      time.Duration // for that
	Repeated  int           // how often the shortest sequence was repeated
	Again     int           // how often of these it broke the same
	Seeds     []int         // that broke it

	folder string // from which it was read
}

const (
	mostTries   = 150 // to shrink a sequence
	repetitions = 10  // of the shortest sequence
	confirmed   = 3   // how often a sequence gets to break again before it is shrunk

	// leastTime is how long a sequence is shrunk, if need be, however short the exploration is.
	leastTime = 10 * time.Minute
)

// signature returns what broke, without the names of objects and numbers, so that the same is found only once.
func signature(b report.Broken) string {
	return unnamed.ReplaceAllString(firstLine(b.What), "*")
}

// unnamed matches words with a digit, as names and numbers have them, and the names of nodes.
var unnamed = regexp.MustCompile(`[\w./:-]*\d[\w./:-]*`)

// signatures returns what an outcome breaks, each once.
func signatures(o report.Outcome) (all []string) {
	if o.Verdict != report.Failed {
		return nil
	}
	for _, b := range o.Broke {
		if what := signature(b); !slices.Contains(all, what) {
			all = append(all, what)
		}
	}
	return all
}

// names reports whether something that broke belongs to what was found.
func (f *found) names(what string) bool { return f.Signature == what || slices.Contains(f.With, what) }

// explains reports whether what was found is why a sequence breaks something. Nobody knows before it is shrunk: until
// then it is, so that two workers don't shrink the same. What never broke again explains nothing else.
func (f *found) explains(q explore.Sequence, what string) bool {
	shrunk, lost := f.Repeated > 0, f.Missed == confirmed
	return f.names(what) && (f.Original.Name == q.Name || !lost && (!shrunk || q.Has(f.Shortest)))
}

// look looks into a sequence that broke something: whether it does so again, and how little it takes. What was found
// before is only counted. What the shortest sequence breaks as well has the same cause. What else the first one broke
// is looked into by itself. So is what the sequence breaks without what explains it, and without what is known.
func (x *exploration) look(ctx context.Context, s *server, q explore.Sequence, o outcome) error {
	for o.Verdict == report.Failed || o.Verdict == report.Known {
		for f := x.find(q, o.Outcome); f != nil; f = x.find(q, o.Outcome) {
			began := time.Now()
			err := f.shrink(ctx, x, s)
			f.Took = time.Since(began)
			x.mu.Lock()
			err = errors.Join(err, x.write(f)) // interrupted, it is kept as short as it is
			x.mu.Unlock()
			if err != nil {
				return err
			}
		}
		rest := x.unexplained(q, o)
		if len(rest.Actions) == len(q.Actions) || time.Since(x.began) > x.length {
			return nil
		}
		var err error
		if o, err = x.play(ctx, s, rest); err != nil {
			return err
		}
		x.say("%s: %d actions have nothing of what was found or is known: %s", q.Name, len(rest.Actions), o.Verdict)
		q = rest
	}
	return nil
}

// unexplained returns a sequence without what is known to fail, and without all that was found to break what it broke.
func (x *exploration) unexplained(q explore.Sequence, o outcome) explore.Sequence {
	x.mu.Lock()
	defer x.mu.Unlock()
	rest := o.unknown
	for _, f := range x.found {
		if f.Repeated > 0 && slices.ContainsFunc(signatures(o.Outcome), f.names) && q.Has(f.Shortest) {
			rest = rest.Without(f.Shortest)
		}
	}
	rest.Name += "-rest"
	return rest
}

// find adds what an outcome breaks and nobody has found yet, as one. It returns nil if there is no such thing.
func (x *exploration) find(q explore.Sequence, o report.Outcome) *found {
	x.mu.Lock()
	defer x.mu.Unlock()
	var fresh []string
	for _, what := range signatures(o) {
		i := slices.IndexFunc(x.found, func(f *found) bool { return f.explains(q, what) })
		if i < 0 {
			fresh = append(fresh, what)
		} else if f := x.found[i]; !slices.Contains(f.Seeds, q.Seed) {
			f.Seeds = append(f.Seeds, q.Seed)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	number := 1
	if n := len(x.found); n > 0 {
		number += x.found[n-1].Number
	}
	f := &found{
		Number: number, Signature: fresh[0], With: fresh[1:], Command: withProvider("make explore"),
		Outcome: o, Original: q, Shortest: q, Seeds: []int{q.Seed},
	}
	x.found = append(x.found, f)
	return f
}

// shrink looks for the shortest sequence, and says how often it breaks the same.
func (f *found) shrink(ctx context.Context, x *exploration, s *server) error {
	again, err := f.replay(ctx, x, s)
	if err != nil {
		return err
	}
	if !again {
		x.say("%s: it doesn't break again: %s", f.Original.Name, f.Signature)
		return nil
	}
	play := func(q explore.Sequence) (bool, error) {
		o, err := x.play(ctx, s, q)
		if err != nil || !slices.Contains(signatures(o.Outcome), f.Signature) {
			return false, err
		}
		f.Outcome = o.Outcome
		return true, nil
	}
	x.say("%s: shrinking %d actions, which break: %s", f.Original.Name, len(f.Original.Actions), f.Signature)
	h := explore.Shrinking{
		Breaks: play,
		Tries:  mostTries / (1 + f.Missed), // what breaks now and then shrinks badly
		Until:  x.shrinksUntil(time.Now()),
		Kept: func(q explore.Sequence, tries int) {
			x.say("%s: %d actions after %d tries", q.Name, len(q.Actions), tries)
		},
	}
	if f.Shortest, f.Tries, err = h.Of(f.Original); err != nil {
		return err
	}
	for try := 1; try <= repetitions; try++ {
		q := f.Shortest
		q.Name = fmt.Sprintf("%s-repeated-%d", q.Name, try)
		broken, err := play(q)
		if err != nil {
			return err
		}
		f.Repeated++
		if broken {
			f.Again++
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	f.narrow(f.Outcome)
	return nil
}

// shrinksUntil returns when the shrinking that begins now ends at the latest: with the exploration, or after a quarter
// of it, since what breaks now and then would keep a worker from all else. But it doesn't end at once.
func (x *exploration) shrinksUntil(now time.Time) time.Time {
	left := x.began.Add(x.length).Sub(now)
	return now.Add(max(leastTime, min(x.length/4, left)))
}

// replay plays the first sequence again, until it breaks something of what was found. That is what is shrunk.
func (f *found) replay(ctx context.Context, x *exploration, s *server) (again bool, err error) {
	for ; f.Missed < confirmed; f.Missed++ {
		q := f.Original
		q.Name = fmt.Sprintf("%s-again-%d", q.Name, f.Missed+1)
		o, err := x.play(ctx, s, q)
		if err != nil {
			return false, err
		}
		x.mu.Lock()
		again = f.prefer(o.Outcome)
		x.mu.Unlock()
		if again {
			return true, nil
		}
	}
	return false, nil
}

// prefer names what was found by the first of it that an outcome breaks, and reports whether there is any.
func (f *found) prefer(o report.Outcome) bool {
	for _, what := range signatures(o) {
		if f.names(what) {
			others := append([]string{f.Signature}, f.With...)
			f.Signature, f.With = what, slices.DeleteFunc(others, func(other string) bool { return other == what })
			f.Outcome = o
			return true
		}
	}
	return false
}

// narrow leaves with what was found only what an outcome of the shortest sequence breaks as well.
func (f *found) narrow(o report.Outcome) {
	broken := signatures(o)
	f.With = slices.DeleteFunc(f.With, func(what string) bool { return !slices.Contains(broken, what) })
}

// often says how often a sequence broke what was found.
func (f *found) often() string {
	switch {
	case f.Repeated > 0:
		return fmt.Sprintf("broken in %d of %d times", f.Again, f.Repeated)
	case f.Missed > 0 && f.Tries == 0:
		return "not broken again in " + check.Words(f.Missed, "tries")
	default:
		return "not repeated, the run ended"
	}
}

func (x *exploration) say(format string, args ...any) {
	fmt.Fprintf(os.Stdout, "  "+format+"\n", args...)
}

// Files about what was found.
const (
	foundFile     = "found.json" // for a run that goes on
	commandsFile  = "commands.sh"
	recordingFile = "recording.jsonl.gz" // of the shortest sequence, when it broke last
	timelineFile  = "timeline.html"      // of that
	issueFile     = "issue.md"           // of all that was found
)

// readFound reads what the run that goes on has found.
func (x *exploration) readFound() error {
	files, err := filepath.Glob(filepath.Join(x.folder, "found", "*", foundFile))
	if err != nil {
		return err
	}
	for _, file := range files {
		f := &found{folder: filepath.Dir(file)}
		if err := readJSON(file, f); err != nil {
			return err
		}
		x.found = append(x.found, f)
	}
	slices.SortFunc(x.found, func(a, b *found) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

// folderOf returns the folder of what was found.
func (x *exploration) folderOf(f *found) string {
	return filepath.Join(x.folder, "found", fmt.Sprint(f.Number))
}

// write writes what was found into a folder of its own.
func (x *exploration) write(f *found) error {
	folder := x.folderOf(f)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	shortest, err := f.Shortest.YAML()
	if err != nil {
		return err
	}
	original, err := f.Original.YAML()
	if err != nil {
		return err
	}
	commands, err := f.Shortest.Commands(x.adapter)
	if err != nil {
		return err
	}
	spec, err := write.Spec(f.Shortest, "It broke: "+f.Signature+".")
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"sequence.yaml": string(shortest), "original.yaml": string(original), commandsFile: commands,
		"sequence.go": spec,
	} {
		//nolint:gosec // artifacts are for everybody
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := errors.Join(f.keepRecording(folder), f.describe(folder)); err != nil {
		return err
	}
	x.say("%s: found/%d, %d actions of %d, %d tries in %s, %s", f.Original.Name, f.Number,
		len(f.Shortest.Actions), len(f.Original.Actions), f.Tries, f.Took.Round(time.Second), f.often())
	return nil
}

// keepRecording puts the recording beside what was found, where it stays with it, and writes its timeline.
func (f *found) keepRecording(folder string) error {
	if !isFile(f.Outcome.History) {
		return nil
	}
	timeline, err := e2e.WriteTimeline(e2e.Formats()[0], e2e.Window{}, f.Outcome.History)
	if err != nil {
		return err
	}
	kept := filepath.Join(folder, recordingFile)
	err = errors.Join(os.Rename(timeline, filepath.Join(folder, timelineFile)), os.Link(f.Outcome.History, kept))
	if err == nil {
		f.Outcome.History = kept
	}
	return err
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// describe writes into the folder of what was found what it is, for people and for a run that goes on.
func (f *found) describe(folder string) error {
	text := f.text(filepath.Join(folder, "sequence.yaml"))
	return errors.Join(
		writeJSON(filepath.Join(folder, foundFile), f),
		os.WriteFile(filepath.Join(folder, "README.md"), []byte(text), 0o644), //nolint:gosec // artifacts are for everybody
	)
}

// text describes what was found, as Markdown.
func (f *found) text(file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nFound in %s %s by seed %d. ", f.Signature, f.Original.Provider, f.Original.Release,
		f.Original.Seed)
	switch {
	case f.Repeated == 0 && f.Tries == 0 && f.Missed > 0:
		fmt.Fprintf(&b, "It did not break again in %s.\n", check.Words(f.Missed, "tries"))
	case f.Repeated == 0:
		fmt.Fprintf(&b, "The run ended after %d tries to shrink it.\n", f.Tries)
	default:
		fmt.Fprintf(&b, "The shortest sequence broke it in %d of %d times. It has %d of %d actions, found by %d tries in "+
			"%s.\n", f.Again, f.Repeated, len(f.Shortest.Actions), len(f.Original.Actions), f.Tries, f.Took.Round(time.Second))
	}
	for _, what := range f.With {
		fmt.Fprintf(&b, "\nIt breaks as well: %s.\n", what)
	}
	fmt.Fprintf(&b, "\n```console\n$ %s REPLAY=%s REPEATS=%d\n```\n\n", f.Command, file, repetitions)
	for i, a := range f.Shortest.Actions {
		fmt.Fprintf(&b, "%d. %s\n", i+1, a)
	}
	fmt.Fprintf(&b, "\n%s\n\n```\n%s\n```\n\nThe timeline: %s\n\nThe recording: %s\n", f.Outcome.Reason, f.Outcome.Detail,
		timelineFile, f.Outcome.History)
	return b.String()
}

// playAgain plays the sequence of a file, and says how often it breaks something.
func (x *exploration) playAgain(ctx context.Context) error {
	q, err := explore.Read(x.replay)
	if err != nil {
		return err
	}
	if q.Release != "" && q.Release != x.release() {
		step(fmt.Sprintf("%s was made for %s %s, and is played on %s", x.replay, q.Provider, q.Release, x.release()))
	}
	s := x.server(1)
	defer s.end()
	red, name := 0, q.Name
	for try := 1; try <= x.repeats; try++ {
		q.Name = fmt.Sprintf("%s-replay-%d", name, try)
		o, err := x.play(ctx, s, q)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s %s: %s\n", mark(!o.Verdict.Red()), q.Name, o.Verdict)
		switch {
		case o.Verdict.Red():
			red++
			x.say("%s\n  the recording: %s", strings.ReplaceAll(o.Reason+"\n"+o.Detail, "\n", "\n  "), o.History)
		case o.Reason != "": // it was skipped, or what it breaks is known
			x.say("%s", o.Reason)
		}
		if o.Note != "" {
			x.say("%s", o.Note)
		}
	}
	if red > 0 {
		return fmt.Errorf("it broke something in %d of %d times", red, x.repeats)
	}
	return nil
}

// conclude says what the exploration has found. An error says that there is something.
func (x *exploration) conclude() error {
	text, file := x.text(), filepath.Join(x.folder, "README.md")
	fmt.Fprintf(os.Stdout, "\n%s\n%s\n", text, file)
	err := errors.Join(
		os.WriteFile(file, []byte(text), 0o644), //nolint:gosec // artifacts are for everybody
		x.writeExplored(true),
	)
	if len(x.found) > 0 {
		err = errors.Join(err, x.writeIssue(), x.broke())
	}
	return err
}

// broke says how many promises broke.
func (x *exploration) broke() error {
	promises := sets.New[string]()
	for _, f := range x.found {
		promises.Insert(f.Signature)
	}
	text := check.Words(len(promises), "promises") + " broke"
	if len(x.found) > len(promises) {
		text += fmt.Sprintf(", in %d ways", len(x.found))
	}
	return errors.New(text)
}

// writeIssue writes the text of an issue about all that was found, for people with this harness and without it.
func (x *exploration) writeIssue() error {
	var b strings.Builder
	for _, f := range x.found {
		commands, err := os.ReadFile(filepath.Join(x.folderOf(f), commandsFile))
		if err != nil {
			return err
		}
		name := filepath.Join("found", fmt.Sprint(f.Number))
		fmt.Fprintf(&b, "%s\n<details><summary>With kubectl alone</summary>\n\n```sh\n%s```\n\n</details>\n\n",
			f.text(filepath.Join(name, "sequence.yaml")), commands)
	}
	b.WriteString(x.text())
	//nolint:gosec // artifacts are for everybody
	return os.WriteFile(filepath.Join(x.folder, issueFile), []byte(b.String()), 0o644)
}

// text says what the exploration has found, as Markdown.
func (x *exploration) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Explored: %s %s\n\n%s.\n\n", x.provider, x.release(), x.progress())
	verdicts, known := map[report.Verdict]int{}, map[string]int{}
	for _, p := range x.played {
		verdicts[p.Verdict]++
		if p.Verdict == report.Known {
			known[strings.TrimSpace(p.Broke+" "+p.Issue)]++
		}
	}
	for _, v := range report.Verdicts() {
		if verdicts[v] > 0 {
			fmt.Fprintf(&b, "- %d %s\n", verdicts[v], v)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "- known, %s: %s\n", check.Words(known[what], "times"), what)
	}
	for _, f := range x.found {
		fmt.Fprintf(&b, "- ✗ found/%d: %s: %d actions of %d, %s; seeds %v\n", f.Number, f.Signature,
			len(f.Shortest.Actions), len(f.Original.Actions), f.often(), f.Seeds)
	}
	return b.String()
}
