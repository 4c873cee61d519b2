package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

const estimateHelp = `usage: plumbline estimate [FOLDER...]

Says how long a run would take if pods shared it (ON=kubernetes), each with one cluster and a CPU as fast as one of
this machine's, from runs that were measured: the artifacts of "make e2e", "make lies", "make crash", "make faults" or
"make explore". By default it is the latest "make e2e". Specs are dealt by what selects them now: set FOCUS and
PROVIDER as they were. What pods wait for to begin, such as the image, comes on top.
`

// estimate says how long measured runs would take if pods shared them.
func estimate(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("estimate", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), estimateHelp) }
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, a, err := selected()
	if err != nil {
		return err
	}
	folders := flags.Args()
	if len(folders) == 0 {
		folders = []string{filepath.Join(c.Artifacts, "latest")}
	}
	for _, folder := range folders {
		m, err := readMeasured(c, a, folder)
		if err != nil {
			return err
		}
		if err := m.print(os.Stdout, []int{1, 2, 4, 8, 10, 16, 32, 100, 1000}); err != nil {
			return err
		}
	}
	return nil
}

// measured is a run that was measured, as the pieces that machines can share.
type measured struct {
	of      string                   // what the pieces are: specs, lies, points
	takes   map[string]time.Duration // how long each piece takes, by its ID
	between time.Duration            // from the end of a piece to the beginning of the next
	// start returns how long a machine with these pieces takes until the first begins.
	start func(ids []string) time.Duration
	// deal returns the pieces that each of so many machines has, as a run with SHARD deals them.
	deal func(machines int) ([][]string, error)
}

// on returns how long so many machines take: as long as the one that takes longest.
func (m measured) on(machines int) (took time.Duration, err error) {
	dealt, err := m.deal(machines)
	for _, ids := range dealt {
		if len(ids) > 0 {
			took = max(took, m.alone(ids))
		}
	}
	return took, err
}

// alone returns how long a machine takes for some pieces.
func (m measured) alone(ids []string) time.Duration {
	took := m.start(ids)
	for _, id := range ids {
		if one, ran := m.takes[id]; ran { // else it is skipped, which takes no time
			took += one + m.between
		}
	}
	return took
}

// print prints how long numbers of machines take, and what keeps more of them from being of use.
func (m measured) print(w io.Writer, machines []int) error {
	ids := slices.Collect(maps.Keys(m.takes))
	longest := slices.MaxFunc(ids, func(a, b string) int { return int(m.takes[a] - m.takes[b]) })
	whole, err := m.on(1)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d %s, %s of work\n", len(ids), m.of, whole.Round(time.Second))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "pods\ttime\tas fast\tpods' time in use\t")
	for _, n := range machines {
		if n > len(ids) {
			n = len(ids)
		}
		took, err := m.on(n)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%s\t%.1f times\t%.0f %%\t\n", n, took.Round(time.Second), whole.Seconds()/took.Seconds(),
			100*whole.Seconds()/took.Seconds()/float64(n))
		if n == len(ids) {
			break
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "no number of pods takes less than %s: that is %s alone\n\n",
		m.alone([]string{longest}).Round(time.Second), longest)
	return err
}

// readMeasured reads a run of any kind.
func readMeasured(c e2e.Config, a *providers.Adapter, folder string) (measured, error) {
	is := func(file string) bool {
		_, err := os.Stat(filepath.Join(folder, file))
		return err == nil
	}
	switch {
	case is(liesFile):
		return measuredLies(folder)
	case is(planFile):
		return measuredFaults(folder)
	case is(exploredFile):
		return measured{}, fmt.Errorf("%s is an exploration: twice the machines play twice the sequences", folder)
	case is(e2e.ConformanceFile):
		return measuredSpecs(c, a, folder)
	default:
		return measured{}, fmt.Errorf("%s: there is no run; name the folder of one, with %s, %s or %s", folder,
			e2e.ConformanceFile, liesFile, planFile)
	}
}

// measuredSpecs reads a run of specs, and deals them as they are selected now.
func measuredSpecs(c e2e.Config, a *providers.Adapter, folder string) (measured, error) {
	m, start, err := readSpecs(folder, "specs")
	m.start = func([]string) time.Duration { return start }
	m.deal = func(machines int) ([][]string, error) { return c.Parts(a, suites.All(), machines) }
	return m, err
}

// readSpan reads when a run of specs began, and how long it took.
func readSpan(folder string) (began time.Time, took time.Duration, err error) {
	said, err := report.ReadConformance(filepath.Join(folder, e2e.ConformanceFile))
	if err != nil {
		return began, 0, err
	}
	if took, err = time.ParseDuration(said.Took); err != nil {
		return began, 0, fmt.Errorf("%s: took: %w", folder, err)
	}
	return said.Started, took, nil
}

// readSpecs reads how long the specs of a run took, and how long it was until the first began.
func readSpecs(folder, of string) (m measured, start time.Duration, err error) {
	began, took, err := readSpan(folder)
	if err != nil {
		return m, 0, err
	}
	outcomes, err := e2e.Outcomes(folder)
	if err != nil {
		return m, 0, err
	}
	m = measured{of: of, takes: map[string]time.Duration{}}
	start, busy, ran := took, map[int]time.Duration{}, map[int]int{}
	for _, o := range outcomes {
		if o.Verdict == report.Skipped {
			continue
		}
		m.takes[o.ID] = o.Wall()
		busy[o.Worker] += o.Wall()
		ran[o.Worker]++
		start = min(start, max(0, o.Started.Sub(began)))
	}
	if len(m.takes) == 0 {
		return m, 0, fmt.Errorf("%s: no spec ran", folder)
	}
	for worker, busy := range busy {
		m.between = max(m.between, (took-start-busy)/time.Duration(ran[worker]))
	}
	return m, start, nil
}

// measuredFaults reads a run of faults. Each machine first learns by runs without faults what there is to strike.
func measuredFaults(folder string) (measured, error) {
	var plan faultsPlan
	if err := readJSON(filepath.Join(folder, planFile), &plan); err != nil {
		return measured{}, err
	}
	struck, err := filepath.Glob(filepath.Join(folder, "struck-*", "latest"))
	if err != nil || len(struck) == 0 {
		return measured{}, errors.Join(err, fmt.Errorf("%s: nothing was struck", folder))
	}
	m, start, err := readSpecs(struck[0], "requests to strike")
	if err != nil {
		return m, err
	}
	for _, resumed := range struck[1:] {
		more, _, err := readSpecs(resumed, "")
		if err != nil {
			return m, err
		}
		maps.Copy(m.takes, more.takes)
	}
	honest, learns, err := readSpecs(filepath.Join(folder, "honest", "latest"), "")
	for _, took := range honest.takes {
		learns += took + honest.between
	}
	m.start = func([]string) time.Duration { return learns + start }
	m.deal = func(machines int) (dealt [][]string, err error) {
		for part := 1; part <= machines; part++ {
			var ids []string
			for _, p := range partOfPoints(e2e.Shard{Part: part, Of: machines}, plan.Points) {
				ids = append(ids, p.ID())
			}
			dealt = append(dealt, ids)
		}
		return dealt, nil
	}
	return m, err
}

// measuredLies reads a run of lies. Each machine also runs the specs of its lies with the honest provider.
func measuredLies(folder string) (measured, error) {
	var r liesReport
	if err := readJSON(filepath.Join(folder, liesFile), &r); err != nil {
		return measured{}, err
	}
	m := measured{of: "lies", takes: map[string]time.Duration{}}
	specs := map[string][]string{}
	var ids []string
	all := sets.New[string]()
	for _, l := range r.Lies {
		m.takes[l.Name] = time.Duration(l.Took * float64(time.Second))
		ids, specs[l.Name] = append(ids, l.Name), l.Specs
		all.Insert(l.Specs...)
	}
	if len(ids) == 0 {
		return m, fmt.Errorf("%s: no lie was told", folder)
	}
	m.start = func(ids []string) time.Duration {
		own := sets.New[string]()
		for _, id := range ids {
			own.Insert(specs[id]...)
		}
		return time.Duration(r.Honest.Took * float64(time.Second) * float64(own.Len()) / float64(max(1, all.Len())))
	}
	m.deal = func(machines int) (dealt [][]string, err error) {
		for n := 1; n <= machines; n++ {
			dealt = append(dealt, part(e2e.Shard{Part: n, Of: machines}, ids))
		}
		return dealt, nil
	}
	return m, nil
}
