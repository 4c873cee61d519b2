package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/local"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// figure is one line of bench.json.
type figure struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Machine string  `json:"machine"`
	Bound   float64 `json:"bound,omitempty"` // the largest wanted value; 0: none
}

// rounds is how many times a start-up is measured. The figure is the median.
const rounds = 5

type measurement struct {
	what  string
	run   func(context.Context) ([]figure, error)
	needs []providers.HookName
}

func bench(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	binary := flags.String("suites", "",
		"measure suites instead, with and without bent time: the catalogue by this test `binary`, and Karpenter's "+
			"own; two hours")
	only := flags.String("only", "", "measure only what matches this `regexp`, such as clusters")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *binary != "" {
		return benchSuites(ctx, *binary)
	}
	var b benched
	chosen, err := matching(b.all(), *only)
	if err != nil {
		return err
	}
	// Only kind accepts it. The other measured backends refuse it.
	b.nodeImage = os.Getenv("NODE_IMAGE")
	if err := os.Unsetenv("NODE_IMAGE"); err != nil {
		return err
	}
	c, a, err := selected()
	if err != nil {
		return err
	}
	if chosen, err = possible(chosen, a); err != nil {
		return err
	}
	if _, err := c.Reap(ctx); err != nil {
		return err
	}
	b.config = c
	if b.plan, err = e2e.Prepare(ctx, c, a, step); err != nil {
		return err
	}
	if b.scratch, err = os.MkdirTemp("", "plumbline-bench-"); err != nil {
		return err
	}
	figures, err := measureEach(ctx, chosen)
	if err = errors.Join(err, os.RemoveAll(b.scratch)); err != nil {
		return err
	}
	return publish(figures, filepath.Join(c.Artifacts, "bench.json"))
}

// benched holds what is measured.
type benched struct {
	config    e2e.Config
	plan      *session.Plan
	nodeImage string
	scratch   string // a folder for files
}

// all returns all measurements, in their order.
func (b *benched) all() []measurement {
	all := []measurement{
		{what: "make e2e until the first spec", run: func(ctx context.Context) ([]figure, error) {
			return firstSpec(ctx, b.scratch)
		}},
		{what: "parts of a run", run: func(ctx context.Context) ([]figure, error) {
			return parts(ctx, b.config, b.plan.Setup.Adapter, b.scratch)
		}},
		{what: "make test", run: makeTest},
		{what: "the recorder and the invariants", run: recorder},
		{what: "the simulated AWS", run: simulated},
		{what: "go.mod", run: countRequires},
		{what: "plain kwokctl", run: func(ctx context.Context) ([]figure, error) {
			return plainKwokctl(ctx, b.plan, b.scratch)
		}},
		{what: "kind", run: func(ctx context.Context) ([]figure, error) {
			return onKind(ctx, b.plan.Setup.Adapter, b.nodeImage, b.scratch)
		}},
		{what: fmt.Sprintf("starting %d clusters", rounds), run: func(ctx context.Context) ([]figure, error) {
			return onLocal(ctx, b.plan, b.scratch)
		}},
	}
	for _, count := range announced() {
		all = append(all, measurement{
			what: fmt.Sprintf("interruption, by %d messages", count),
			run: func(ctx context.Context) ([]figure, error) {
				return interruptions(ctx, b.plan, count, b.scratch)
			},
			needs: []providers.HookName{providers.AnnounceMany, providers.Announcements},
		})
	}
	// This process may use a cluster's clock from then on, which runs ahead.
	return append(all, measurement{what: "the clock", run: func(ctx context.Context) ([]figure, error) {
		return benchClock(ctx, b.plan, b.scratch)
	}})
}

// matching returns the measurements that a regular expression matches. That it matches none is an error.
func matching(all []measurement, only string) ([]measurement, error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("bench: -only %q is not a regular expression of Go: %w", only, err)
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.what
	}
	chosen := slices.DeleteFunc(all, func(m measurement) bool { return !wanted.MatchString(m.what) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("bench: -only %q matches nothing; there are: %s", only, strings.Join(names, ", "))
	}
	return chosen, nil
}

// possible returns the measurements for which the adapter has all hooks. That there is none is an error.
func possible(chosen []measurement, a *providers.Adapter) (able []measurement, err error) {
	lacking := map[string][]string{} // what can't be measured, by the reason
	for _, m := range chosen {
		i := slices.IndexFunc(m.needs, func(h providers.HookName) bool { has, _ := a.Has(h); return !has })
		if i < 0 {
			able = append(able, m)
			continue
		}
		_, why := a.Has(m.needs[i])
		lacking[why] = append(lacking[why], m.what)
	}
	for _, why := range slices.Sorted(maps.Keys(lacking)) {
		err = errors.Join(err, fmt.Errorf("not measured: %s: %s", strings.Join(lacking[why], "; "), why))
	}
	if len(able) > 0 && err != nil {
		step(err.Error())
		return able, nil
	}
	return able, err
}

func measureEach(ctx context.Context, chosen []measurement) ([]figure, error) {
	var figures []figure
	for _, m := range chosen {
		step("measuring " + m.what)
		some, err := m.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("measuring %s: %w", m.what, err)
		}
		figures = append(figures, some...)
	}
	return figures, nil
}

func publish(figures []figure, file string) error {
	for i := range figures {
		figures[i].Machine = machine()
		bound := ""
		if b := figures[i].Bound; b > 0 {
			bound = fmt.Sprintf("  (wanted: at most %g)", b)
		}
		fmt.Printf("%-52s %10.4g %s%s\n", figures[i].Name, figures[i].Value, figures[i].Unit, bound)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return writeJSON(file, figures)
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// startUp is a way to start clusters with the provider, and the names of its figures.
type startUp struct {
	plan   *session.Plan
	rounds int
	memory func(ctx context.Context, cluster string) (megabytes float64, err error)

	cluster, provider, resident, ended figure // without values
}

// figures starts clusters one after another and returns the medians.
func (u startUp) figures(ctx context.Context, scratch string) ([]figure, error) {
	all := []*figure{&u.cluster, &u.provider, &u.resident, &u.ended}
	values := make([][]float64, len(all))
	for i := range u.rounds {
		name := fmt.Sprintf("bench-%d-%d", os.Getpid(), i)
		s, err := u.plan.Start(ctx, name, filepath.Join(scratch, u.plan.Setup.Backend.Name+"-"+name))
		if err != nil {
			return nil, err
		}
		megabytes, err := u.memory(ctx, name)
		began := time.Now()
		if err := errors.Join(err, s.Close(context.WithoutCancel(ctx))); err != nil {
			return nil, err
		}
		for n, value := range []float64{
			s.ClusterReady.Seconds(), s.ProviderReady.Seconds(), megabytes,
			time.Since(began).Seconds(),
		} {
			values[n] = append(values[n], value)
		}
	}
	var figures []figure
	for n, f := range all {
		f.Value = median(values[n])
		figures = append(figures, *f)
	}
	return figures, nil
}

// onLocal starts clusters of the local backend, as `make up` does.
func onLocal(ctx context.Context, plan *session.Plan, scratch string) ([]figure, error) {
	unbent := *plan
	unbent.Setup.Speed = clock.Speed{Limit: 1}
	return startUp{
		plan: &unbent, rounds: rounds, memory: residentMemory,
		cluster:  figure{Name: "cluster ready, warm binaries", Unit: "s", Bound: 4},
		provider: figure{Name: "provider ready after that", Unit: "s", Bound: 4},
		resident: figure{Name: "resident memory of cluster and provider", Unit: "MB", Bound: 700},
		ended:    figure{Name: "cluster ended", Unit: "s"},
	}.figures(ctx, scratch)
}

// residentMemory sums the resident memory of a cluster's processes, in MB.
func residentMemory(ctx context.Context, name string) (float64, error) {
	cache, err := build.Open(nil)
	if err != nil {
		return 0, err
	}
	pids, err := local.Processes(cache, name)
	if err != nil {
		return 0, err
	}
	return memoryOf(ctx, pids)
}

func memoryOf(ctx context.Context, pids []int) (float64, error) {
	args := []string{"-o", "rss="}
	for _, pid := range pids {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	out, err := exec.CommandContext(ctx, "ps", args...).Output()
	if err != nil {
		return 0, fmt.Errorf("ps: %w", err)
	}
	var kilobytes float64
	for field := range strings.FieldsSeq(string(out)) {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, err
		}
		kilobytes += n
	}
	return kilobytes / 1000, nil
}

// recorder benchmarks the recorder and the invariants. It fails if they lose an event.
func recorder(ctx context.Context) ([]figure, error) {
	var figures []figure
	for _, b := range []struct{ pkg, names, times string }{
		{"./e2e/history", "^BenchmarkRecorder$", "10000x"},
		{"./e2e/history", "^BenchmarkAwait$", "1000x"},
		{"./e2e/invariant", "^BenchmarkJudge$/^all$", "3x"},
	} {
		some, err := benchmarks(ctx, b.pkg, b.names, b.times)
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
	}
	if len(figures) == 0 {
		return nil, errors.New("the benchmarks reported nothing")
	}
	return figures, nil
}

// simulated benchmarks the launch and end of instances in the simulated AWS. It fails if one
// is lost.
func simulated(ctx context.Context) ([]figure, error) {
	return benchmarks(ctx, "./providers/aws/wire", "^BenchmarkSimulatedAWS$", "3x")
}

// benchmarks runs the matching benchmarks of a package. times is the value of -benchtime.
func benchmarks(ctx context.Context, pkg, names, times string) ([]figure, error) {
	out, err := output(ctx, "go", "test", "-run", "^$", "-bench", names, "-benchtime", times, pkg)
	return parse(out), err
}

// parse reads the figures of benchmarks: name and count, then pairs of value and unit. It
// skips Go's own ns/op, which is only the rate of the stream.
func parse(out string) []figure {
	var figures []figure
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		for i := 2; i+1 < len(words); i += 2 {
			value, err := strconv.ParseFloat(words[i], 64)
			if err != nil || words[i+1] == "ns/op" {
				continue
			}
			f := figure{Name: name, Value: value, Unit: words[i+1]}
			switch {
			case f.Unit == "%-of-a-core" && strings.Contains(name, "/1000-"):
				f.Bound = 3
			case f.Unit == "s-to-judge-100000-events":
				f.Bound = 2
			}
			figures = append(figures, f)
		}
	}
	return figures
}

func makeTest(ctx context.Context) ([]figure, error) {
	if _, err := output(ctx, "make", "test"); err != nil { // warms the caches
		return nil, err
	}
	began := time.Now()
	_, err := output(ctx, "make", "test")
	return []figure{{Name: "make test, warm", Value: time.Since(began).Seconds(), Unit: "s", Bound: 60}}, err
}

// firstSpec measures the time from `make e2e` to the start of the first spec.
func firstSpec(ctx context.Context, artifacts string) ([]figure, error) {
	began := time.Now()
	if _, err := output(ctx, "make", "e2e", "ARTIFACTS="+artifacts, "FOCUS=^taints/"); err != nil {
		return nil, err
	}
	outcomes, err := e2e.Outcomes(filepath.Join(artifacts, "latest"))
	if err != nil {
		return nil, err
	}
	if len(outcomes) == 0 {
		return nil, errors.New("no spec ran")
	}
	first := outcomes[0].Started
	for _, o := range outcomes {
		if o.Started.Before(first) {
			first = o.Started
		}
	}
	return []figure{{
		Name: "make e2e, warm, until the first spec starts", Value: first.Sub(began).Seconds(), Unit: "s",
		Bound: 15,
	}}, nil
}

// countRequires counts the requires of the root module and of an importer of the suites.
func countRequires(ctx context.Context) ([]figure, error) {
	var figures []figure
	for _, m := range []struct {
		name, folder string
		bound        float64
	}{{"requires of the root go.mod", ".", 100}, {"requires of an importer's go.mod", "hack/importer", 0}} {
		out, err := output(ctx, "go", "mod", "edit", "-json", filepath.Join(m.folder, "go.mod"))
		if err != nil {
			return nil, err
		}
		var mod struct{ Require []any }
		if err := json.Unmarshal([]byte(out), &mod); err != nil {
			return nil, err
		}
		figures = append(figures, figure{Name: m.name, Value: float64(len(mod.Require)), Unit: "modules", Bound: m.bound})
	}
	return figures, nil
}

// output runs a command and returns its output. An error contains the end of the output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	var both bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Run(); err != nil {
		text := both.String()
		return text, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	return both.String(), nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
